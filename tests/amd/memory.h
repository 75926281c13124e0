/* Instructions of memory, local memory and lanes: handlers whose kind and width stand in the instruction. */
enum { ADD, SUB, MIN_I, MAX_I, MIN_U, MAX_U, AND, OR, XOR, SWAP, COMPARE, ADD_F };

/* ---- addresses */
static inline U64 global_address(const Wave *w, const Ins *i, U32 lane) {
  const U32 *low = w->v + (size_t)i->addr * WAVE + lane;
  if (i->saddr >= 0) return (*(const U64 *)(w->s + i->saddr)) + low[0] + (I64)i->offset;
  return (low[0] | (U64)low[WAVE] << 32) + (I64)i->offset;
}

/* Lanes go in turn from a random one, because hardware does not say which of several stores to a word is last. */
static U32 first_lane(Wave *w) { return (U32)(next_random(w->random) >> 32) % WAVE; }
#define LANES_FROM_ANY(w)                                                                                           \
  for (U32 turn_ = 0, first_ = first_lane(w), lane; turn_ < WAVE && (lane = (turn_ + first_) % WAVE, 1); turn_++) \
    if (EXEC(w) >> lane & 1)

static U8 *scratch_at(Wave *w, const Ins *i, U32 lane, U32 n) {
  static U8 nowhere[16];
  U32 at = (U32)i->offset + (i->saddr >= 0 ? w->s[i->saddr] : 0);
  if (i->addr >= 0) at += w->v[(size_t)i->addr * WAVE + lane];
  if (at + n <= w->launch->n_private) return w->scratch + (size_t)lane * w->launch->n_private + at;
  fail(w, i, BAD_LOCAL, at);
  return nowhere;
}

/* ---- loads and stores.  kind: 0 whole words, 1 unsigned part of a word, 2 signed part, 3 low half of a word, 4 high */
static inline void load_words(Wave *w, const Ins *i, U32 lane, const U32 *from) {
  U32 *to = w->v + (size_t)i->dst * WAVE + lane, x = from[0];
  if (i->kind == 0) {
    for (I32 k = 0; k < i->width / 4; k++) to[(size_t)k * WAVE] = from[k];
    return;
  }
  x &= i->width == 1 ? 0xff : 0xffff;
  if (i->kind == 2) x = i->width == 1 ? (U32)(I32)(int8_t)x : (U32)(I32)(I16)x;
  if (i->kind == 3) x = (to[0] & 0xffff0000) | x;
  if (i->kind == 4) x = (to[0] & 0xffff) | x << 16;
  to[0] = x;
}
static inline void stored_words(Wave *w, const Ins *i, U32 lane, U32 *words) {
  const U32 *from = w->v + (size_t)i->data * WAVE + lane;
  for (I32 k = 0; k < (i->width + 3) / 4; k++) words[k] = from[(size_t)k * WAVE];
  if (i->kind == 4) words[0] >>= 16;
}

static void global_load(Wave *w, const Ins *i) {
  U64 at[WAVE];
  LANES(w) at[lane] = global_address(w, i, lane); /* the destination may overlap the address */
  LANES(w) {
    U32 words[4] = {0};
    read_memory(w, i, at[lane], words, i->width, 0);
    load_words(w, i, lane, words);
  }
}
static void global_store(Wave *w, const Ins *i) {
  LANES_FROM_ANY(w) {
    U32 words[4];
    stored_words(w, i, lane, words);
    write_memory(w, i, global_address(w, i, lane), words, i->width);
  }
}
static void scratch_load(Wave *w, const Ins *i) {
  LANES(w) {
    U32 words[4] = {0};
    memcpy(words, scratch_at(w, i, lane, i->width), i->width);
    load_words(w, i, lane, words);
  }
}
static void scratch_store(Wave *w, const Ins *i) {
  LANES(w) {
    U32 words[4];
    stored_words(w, i, lane, words);
    memcpy(scratch_at(w, i, lane, i->width), words, i->width);
  }
}
static void scalar_load(Wave *w, const Ins *i) {
  U32 words[16] = {0};
  U64 at = (*(const U64 *)(w->s + i->addr)) + (I64)i->offset + (i->saddr >= 0 ? w->s[i->saddr] : 0);
  read_memory(w, i, at & ~3ull, words, i->width, 1);
  for (I32 k = 0; k < i->width / 4; k++) w->s[i->dst + k] = words[k];
}

/* ---- atomics */
static U64 updated(const Ins *i, U64 old, U64 data, U64 compare) {
  int wide = i->width == 8;
  V a = {.u64 = old}, b = {.u64 = data};
  I64 x = wide ? a.i64 : a.i32, y = wide ? b.i64 : b.i32;
  switch (i->kind) {
    case ADD: return old + data;
    case SUB: return old - data;
    case MIN_I: return x < y ? old : data;
    case MAX_I: return x > y ? old : data;
    case MIN_U: return old < data ? old : data;
    case MAX_U: return old > data ? old : data;
    case AND: return old & data;
    case OR: return old | data;
    case XOR: return old ^ data;
    case SWAP: return data;
    case COMPARE: return old == compare ? data : old;
    default:
      if (wide) a.f64 += b.f64;
      else a.f32 += b.f32;
      return a.u64;
  }
}
static inline U64 vector_value(const Wave *w, I32 r, U32 lane, int wide) {
  const U32 *from = w->v + (size_t)r * WAVE + lane;
  return from[0] | (wide ? (U64)from[WAVE] << 32 : 0);
}
static inline void set_vector(Wave *w, I32 r, U32 lane, U64 value, int wide) {
  U32 *to = w->v + (size_t)r * WAVE + lane;
  to[0] = (U32)value;
  if (wide) to[WAVE] = (U32)(value >> 32);
}

/* They act on memory itself, and the line that the group's cache has of the word is written, too. */
static void global_atomic(Wave *w, const Ins *i) {
  int wide = i->width == 8;
  LANES_FROM_ANY(w) {
    U64 at = global_address(w, i, lane), old = 0;
    if (!in_range(w, at, i->width) || at % i->width) {
      fail(w, i, BAD_ADDRESS, at);
      continue;
    }
    memcpy(&old, (const void *)at, i->width);
    U64 compare = i->kind == COMPARE ? vector_value(w, i->data + i->width / 4, lane, wide) : 0;
    U64 made = updated(i, old, vector_value(w, i->data, lane, wide), compare);
    memcpy((void *)at, &made, i->width);
    if (w->launch->caches) update_line(w, at, &made, i->width);
    if (i->dst >= 0) set_vector(w, i->dst, lane, old, wide);
  }
}

/* ---- local memory */
static inline U32 local_address(const Wave *w, const Ins *i, U32 lane, I32 offset) {
  return w->v[(size_t)i->addr * WAVE + lane] + (U32)offset; /* wraps: since gfx9 the register may be negative */
}
static void local_atomic(Wave *w, const Ins *i) {
  int wide = i->width == 8;
  LANES_FROM_ANY(w) {
    U8 *at = local(w, i, local_address(w, i, lane, i->offset), i->width);
    U64 old = 0, data = vector_value(w, i->data, lane, wide), compare = 0;
    if (i->kind == COMPARE) { /* CDNA: the first operand is compared; RDNA 3: the second one */
      U64 second = vector_value(w, i->data2, lane, wide);
      compare = RDNA ? second : data;
      data = RDNA ? data : second;
    }
    memcpy(&old, at, i->width);
    U64 made = updated(i, old, data, compare);
    memcpy(at, &made, i->width);
    if (i->dst >= 0) set_vector(w, i->dst, lane, old, wide);
  }
}
static void local_load(Wave *w, const Ins *i) {
  LANES(w) {
    U32 words[4] = {0};
    memcpy(words, local(w, i, local_address(w, i, lane, i->offset), i->width), i->width);
    load_words(w, i, lane, words);
  }
}
static void local_store(Wave *w, const Ins *i) {
  LANES_FROM_ANY(w) {
    U32 words[4];
    stored_words(w, i, lane, words);
    memcpy(local(w, i, local_address(w, i, lane, i->offset), i->width), words, i->width);
  }
}
static void local_load_two(Wave *w, const Ins *i) {
  LANES(w) {
    U64 x = 0, y = 0;
    memcpy(&x, local(w, i, local_address(w, i, lane, i->offset), i->width), i->width);
    memcpy(&y, local(w, i, local_address(w, i, lane, i->offset2), i->width), i->width);
    set_vector(w, i->dst, lane, x, i->width == 8);
    set_vector(w, i->dst + i->width / 4, lane, y, i->width == 8);
  }
}
static void local_store_two(Wave *w, const Ins *i) {
  LANES_FROM_ANY(w) {
    U64 x = vector_value(w, i->data, lane, i->width == 8), y = vector_value(w, i->data2, lane, i->width == 8);
    memcpy(local(w, i, local_address(w, i, lane, i->offset), i->width), &x, i->width);
    memcpy(local(w, i, local_address(w, i, lane, i->offset2), i->width), &y, i->width);
  }
}

/* Lanes read registers of others through the wires of local memory; an inactive source lane gives 0. */
static void backward_permute(Wave *w, const Ins *i) {
  U32 found[WAVE];
  LANES(w) {
    U32 from = (w->v[(size_t)i->addr * WAVE + lane] + (U32)i->offset) / 4 % WAVE;
    found[lane] = EXEC(w) >> from & 1 ? w->v[(size_t)i->data * WAVE + from] : 0;
  }
  LANES(w) w->v[(size_t)i->dst * WAVE + lane] = found[lane];
}

/* ---- cache instructions, and instructions without effect in this executor */
static void invalidate(Wave *w, const Ins *i) {
  (void)i;
  drop_lines(w, w->group->lines[0]);
}
static void invalidate_shared(Wave *w, const Ins *i) {
  (void)i;
  drop_lines(w, w->group->shared);
}
static void invalidate_scalar(Wave *w, const Ins *i) {
  (void)i;
  drop_lines(w, w->group->lines[1]);
}
static void nothing(Wave *w, const Ins *i) {
  (void)w;
  (void)i;
}

/* ---- lanes and scalar registers.  The first active lane is 0 if none is active. */
static void read_first_lane(Wave *w, const Ins *i) {
  U32 lane = EXEC(w) ? (U32)__builtin_ctzll(EXEC(w)) : 0;
  OPERAND(0)(void) high0;
  set_scalar(w, i->dst, a0[lane * step0], 1);
}
static void read_lane(Wave *w, const Ins *i) {
  OPERAND(0)(void) high0;
  OPERAND(1)(void) high1;
  (void)step1;
  set_scalar(w, i->dst, a0[(a1[0] % WAVE) * step0], 1);
}
static void write_lane(Wave *w, const Ins *i) {
  OPERAND(0)(void) high0;
  OPERAND(1)(void) high1;
  (void)step0, (void)step1;
  w->v[(size_t)i->dst * WAVE + a1[0] % WAVE] = a0[0];
}
static void swap(Wave *w, const Ins *i) {
  U32 *a = w->v + (size_t)i->dst * WAVE, *b = w->v + (size_t)(i->src[0] - FIRST_VECTOR) * WAVE;
  LANES(w) {
    U32 x = a[lane];
    a[lane] = b[lane];
    b[lane] = x;
  }
}
