/* The state of waves, operands of instructions, and memory with first-level caches.
 *
 * WAVE (lanes) and RDNA (0 or 1) are defined by the build.  Vector registers are v[register * WAVE + lane].  The scalar
 * registers hold VCC at 106, EXEC at 126 and M0 at its place of the target, as instructions name them.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t U64;
typedef int64_t I64;
typedef uint32_t U32;
typedef int32_t I32;
typedef uint16_t U16;
typedef int16_t I16;
typedef uint8_t U8;
typedef union {
  U64 u64, b64;
  I64 i64;
  double f64;
  U32 u32, b32;
  I32 i32;
  float f32;
  U16 u16, b16, f16;
  I16 i16;
  U32 w[2];
  float f[2];
} V;

enum { VCC_ = 106, NULL_ = 124, M0_ = RDNA ? 125 : 124, EXEC_ = 126, FIRST_VECTOR = 256 };
enum { RUNNING, AT_BARRIER, ENDED };
enum { OK, OUT_OF_STEPS, BAD_ADDRESS, BAD_LOCAL, BAD_PC, DEADLOCK };

typedef struct Wave Wave;
typedef struct Ins Ins;
typedef void Handler(Wave *w, const Ins *i);

struct Ins { /* the same layout as INSTRUCTION in program.py */
  Handler *run;
  I32 src[4], imm[4][2];
  I32 dst, sdst, addr, data, data2, saddr, offset, offset2, target, bypass, kind, width, pc, pattern;
};

typedef struct {
  U64 tag; /* address of the line, 0 if there is none */
  U8 bytes[128];
} Line;

typedef struct {
  U64 first, end;
} Range;

typedef struct {
  U8 *local;
  Line *lines[2]; /* vector and scalar cache */
  Line *shared;   /* RDNA: a second cache, which every other group shares */
  U32 id, n_waves, n_at_barrier, n_ended;
} Group;

typedef struct { /* the same layout as LAUNCH in machine.py */
  U64 ins, places, base, arguments, packet, ranges, report;
  U64 seed, max_steps;
  U32 n_ins, n_code, n_ranges, n_groups, group_size, n_local, n_private, n_vectors, entry, resident, max_turn, registers;
  U32 properties, line_bytes, n_lines, caches;
} Launch;

typedef struct { /* the same layout as REPORT in machine.py */
  U64 steps, turns, address;
  U32 status, pc, group, wave;
  U32 pcs[64];
} Report;

struct Wave {
  U32 s[128];
  U32 scc, pc, state, lane0;
  U32 special[4];
  U32 *v;
  U8 *scratch;
  Group *group;
  const Launch *launch;
  Report *report;
  U64 *random;
  const Range *last;
};

#if WAVE == 64
#define EXEC(w) (*(const U64 *)&(w)->s[EXEC_])
#define MASK(p) (*(const U64 *)(p))
#else
#define EXEC(w) ((U64)(w)->s[EXEC_])
#define MASK(p) ((U64) * (p))
#endif
#define LANES(w) for (U64 left_ = EXEC(w), lane; left_ && (lane = __builtin_ctzll(left_), 1); left_ &= left_ - 1)
#define BITS(x, high, low) (((U64)(x) >> (low)) & ((2ull << ((high) - (low))) - 1))
#define BIT(x, n) (((U64)(x) >> (n)) & 1)

static inline void fail(Wave *w, const Ins *i, U32 status, U64 address) {
  if (!w->report->status) {
    w->report->status = status;
    w->report->pc = i->pc;
    w->report->address = address;
  }
}

/* ---- scalar and vector operands */
static inline const U32 *operand(Wave *w, const Ins *i, int k, U32 *step) {
  I32 r = i->src[k];
  *step = 0;
  if (r >= FIRST_VECTOR) {
    *step = 1;
    return w->v + (size_t)(r - FIRST_VECTOR) * WAVE;
  }
  if (r < 0) return (const U32 *)i->imm[k];
  if (r < 128) return w->s + r;
  U64 set = r == 253 ? w->scc : r == 251 ? !MASK(w->s + VCC_) : !EXEC(w);
  w->special[k] = (U32)set;
  return w->special + k;
}
#define OPERAND(k)  \
  U32 step##k;      \
  const U32 *a##k = operand(w, i, k, &step##k), *high##k = a##k + (step##k ? WAVE : 1);
#define VECTOR(k, hi) {.w = {a##k[lane * step##k], hi ? high##k[lane * step##k] : 0}}
#define SCALAR(k, hi) {.w = {a##k[0], hi ? high##k[0] : 0}}

static inline void set_scalar(Wave *w, I32 r, U64 value, int n) {
  if (RDNA && r == NULL_) return;
  w->s[r] = (U32)value;
  if (n > 1) w->s[r + 1] = (U32)(value >> 32);
}
static inline void set_mask(Wave *w, I32 r, U64 value) { set_scalar(w, r, value, WAVE / 32); }

static inline U64 next_random(U64 *state) { /* xorshift64* */
  U64 x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return x * 0x2545F4914F6CDD1Dull;
}

/* ---- memory: an address is one of the host, in an array of the launch */
static inline int in_range(Wave *w, U64 address, U32 n) {
  const Range *r = w->last;
  if (address >= r->first && address + n <= r->end) return 1;
  r = (const Range *)w->launch->ranges;
  for (U32 k = 0; k < w->launch->n_ranges; k++)
    if (address >= r[k].first && address + n <= r[k].end) {
      w->last = r + k;
      return 1;
    }
  return 0;
}

static inline U64 line_of(const Wave *w, U64 address) { return address / w->launch->line_bytes; }

/* Fill the line, unless it is there; bytes outside of the array that w->last names stay unread. */
static inline Line *filled_line(Wave *w, Line *lines, U64 address, Line *behind) {
  const Launch *l = w->launch;
  Line *line = lines + line_of(w, address) % l->n_lines;
  U64 first = line_of(w, address) * l->line_bytes;
  if (line->tag == first) return line;
  if (behind) {
    *line = *filled_line(w, behind, address, NULL);
    return line;
  }
  line->tag = first;
  U64 from = first < w->last->first ? w->last->first : first;
  U64 to = first + l->line_bytes > w->last->end ? w->last->end : first + l->line_bytes;
  memcpy(line->bytes + (from - first), (const void *)from, to - from);
  return line;
}

static inline void read_memory(Wave *w, const Ins *i, U64 address, void *to, U32 n, int scalar) {
  if (!in_range(w, address, n)) {
    fail(w, i, BAD_ADDRESS, address);
    memset(to, 0, n);
    return;
  }
  if (!w->launch->caches || i->bypass) {
    memcpy(to, (const void *)address, n);
    return;
  }
  for (U32 done = 0; done < n; done += 4) { /* an access of several words may cross two lines */
    U32 part = n - done < 4 ? n - done : 4;
    const Line *line = 
        filled_line(w, w->group->lines[scalar], address + done, scalar ? NULL : w->group->shared);
    memcpy((U8 *)to + done, line->bytes + (address + done - line->tag), part);
  }
}

static inline void update_line(Wave *w, U64 address, const void *from, U32 n) {
  Line *both[2] = {w->group->lines[0], w->group->shared};
  for (int k = 0; k < 2 && both[k]; k++) {
    Line *line = both[k] + line_of(w, address) % w->launch->n_lines;
    if (line->tag == line_of(w, address) * w->launch->line_bytes) memcpy(line->bytes + (address - line->tag), from, n);
  }
}

static inline void write_memory(Wave *w, const Ins *i, U64 address, const void *from, U32 n) {
  if (!in_range(w, address, n)) {
    fail(w, i, BAD_ADDRESS, address);
    return;
  }
  memcpy((void *)address, from, n);
  if (w->launch->caches)
    for (U32 done = 0; done < n; done += 4)
      update_line(w, address + done, (const U8 *)from + done, n - done < 4 ? n - done : 4);
}

static inline void drop_lines(const Wave *w, Line *lines) {
  for (U32 k = 0; lines && k < w->launch->n_lines; k++) lines[k].tag = 0;
}

static inline U8 *local(Wave *w, const Ins *i, U64 address, U32 n) {
  static U8 nowhere[16];
  if (address + n <= w->launch->n_local) return w->group->local + address;
  fail(w, i, BAD_LOCAL, address);
  return nowhere;
}
