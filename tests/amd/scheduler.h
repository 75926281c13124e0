/* Branches, barriers, and the scheduler: it runs a random wave for a random number of instructions, again and again.
 *
 * A group begins as soon as one of the resident groups has ended. The seed decides everything, so a failure replays.
 */
static void branch(Wave *w, const Ins *i) { w->pc = (U32)i->target; }
static void branch_if_no_lanes(Wave *w, const Ins *i) {
  if (!EXEC(w)) w->pc = (U32)i->target;
}
static void branch_if_lanes(Wave *w, const Ins *i) {
  if (EXEC(w)) w->pc = (U32)i->target;
}
static void branch_if_scc(Wave *w, const Ins *i) {
  if (w->scc) w->pc = (U32)i->target;
}
static void branch_unless_scc(Wave *w, const Ins *i) {
  if (!w->scc) w->pc = (U32)i->target;
}
static void branch_if_vcc(Wave *w, const Ins *i) {
  if (MASK(w->s + VCC_)) w->pc = (U32)i->target;
}
static void branch_unless_vcc(Wave *w, const Ins *i) {
  if (!MASK(w->s + VCC_)) w->pc = (U32)i->target;
}

static U64 address_after(const Wave *w, const Ins *i) { return w->launch->base + (U32)i->pc + 4; }
static void jump(Wave *w, const Ins *i, U64 address) {
  U64 word = (address - w->launch->base) / 4;
  I32 place = word < w->launch->n_code ? ((const I32 *)w->launch->places)[word] : -1;
  if (place < 0) fail(w, i, BAD_PC, address);
  else w->pc = (U32)place;
}
static void get_pc(Wave *w, const Ins *i) { set_scalar(w, i->dst, address_after(w, i), 2); }
static void set_pc(Wave *w, const Ins *i) { jump(w, i, *(const U64 *)(w->s + i->src[0])); }
static void swap_pc(Wave *w, const Ins *i) {
  U64 to = *(const U64 *)(w->s + i->src[0]);
  set_scalar(w, i->dst, address_after(w, i), 2);
  jump(w, i, to);
}
static void barrier(Wave *w, const Ins *i) {
  (void)i;
  w->state = AT_BARRIER;
  w->group->n_at_barrier++;
}
static void end_program(Wave *w, const Ins *i) {
  (void)i;
  w->state = ENDED;
  w->group->n_ended++;
}

/* ---- the state at the start of a wave: user and system registers in the order of the ABI of HSA */
static void start_wave(Wave *w, const Launch *l, Group *group, U32 number) {
  memset(w->s, 0, sizeof w->s);
  for (size_t k = 0; k < (size_t)l->n_vectors * WAVE; k++) w->v[k] = 0xdeadbeef; /* registers begin undefined */
  w->scc = 0;
  w->pc = l->entry;
  w->state = RUNNING;
  w->group = group;
  w->lane0 = number * WAVE;
  U32 n = l->group_size - w->lane0 < WAVE ? l->group_size - w->lane0 : WAVE, at = 0;
  set_mask(w, EXEC_, n == 64 ? ~0ull : (1ull << n) - 1);
  for (U32 lane = 0; lane < WAVE; lane++) w->v[lane] = w->lane0 + lane;
  U64 values[] = {0, 0, l->packet, 0, l->arguments, 0, 0}; /* private buffer (2), dispatch, queue, arguments, id, scratch */
  U32 bits[] = {0, 0, 1, 2, 3, 4, 5};
  for (int k = 0; k < 7; k++)
    if (l->properties >> bits[k] & 1) {
      memcpy(w->s + at, values + k, 8);
      at += 2;
    }
  if (l->properties >> 6 & 1) w->s[at++] = l->n_private;
  U32 wanted = l->registers >> 1 & 31; /* the number of user registers, which may be padded */
  if (at < wanted) at = wanted;
  if (l->registers >> 7 & 1) w->s[at++] = group->id;
  for (U32 k = 8; k < 10; k++)
    if (l->registers >> k & 1) w->s[at++] = 0;
  if (l->registers & 1 && !RDNA) w->s[at++] = 0; /* the wave's offset of scratch, which is counted from its own start */
}

static void start_group(Wave *waves, Group *group, const Launch *l, U32 id) {
  group->id = id;
  group->n_at_barrier = group->n_ended = 0;
  memset(group->local, 0xa5, l->n_local);
  if (l->caches)
    for (int k = 0; k < 2; k++)
      for (U32 n = 0; n < l->n_lines; n++) group->lines[k][n].tag = 0;
  for (U32 k = 0; k < group->n_waves; k++) start_wave(waves + k, l, group, k);
}

static void release_barrier(Wave *waves, Group *group) {
  if (!group->n_at_barrier || group->n_at_barrier + group->n_ended < group->n_waves) return;
  group->n_at_barrier = 0;
  for (U32 k = 0; k < group->n_waves; k++)
    if (waves[k].state == AT_BARRIER) waves[k].state = RUNNING;
}

static void report_places(const Launch *l, Report *report, const Wave *waves, U32 n) {
  for (U32 k = 0; k < n && k < 64; k++)
    report->pcs[k] = waves[k].state == ENDED ? UINT32_MAX : (U32)((const Ins *)l->ins)[waves[k].pc].pc;
}

static void run_waves(const Launch *l, Report *report, Wave *waves, Group *groups, U32 n_slots, U64 *random) {
  const Ins *ins = (const Ins *)l->ins;
  U32 per_group = groups[0].n_waves, started = n_slots, n_live = n_slots * per_group, n_waves = n_live;
  U32 *live = malloc(n_waves * sizeof *live); /* the waves that can run are first */
  for (U32 k = 0; k < n_waves; k++) live[k] = k;
  while (n_live && !report->status) {
    U64 x = next_random(random) >> 16;
    U32 at = (U32)(x % n_live), turn = 1 + (U32)(x >> 24) % l->max_turn;
    Wave *w = waves + live[at];
    Group *group = w->group;
    report->turns++;
    for (; turn && w->state == RUNNING; turn--, report->steps++) {
      const Ins *i = ins + w->pc++;
      i->run(w, i);
    }
    if (report->status || report->steps > l->max_steps) {
      if (!report->status) report->status = OUT_OF_STEPS;
      report->group = group->id;
      report->wave = w->lane0 / WAVE;
      break;
    }
    if (w->state == RUNNING) continue;
    live[at] = live[--n_live];
    U32 slot = (U32)(group - groups);
    Wave *own = waves + (size_t)slot * per_group;
    U32 was_waiting = group->n_at_barrier;
    release_barrier(own, group);
    if (was_waiting && !group->n_at_barrier)
      for (U32 k = 0; k < per_group; k++)
        if (own[k].state == RUNNING) live[n_live++] = slot * per_group + k;
    if (group->n_ended == group->n_waves && started < l->n_groups) {
      start_group(own, group, l, started++);
      for (U32 k = 0; k < per_group; k++) live[n_live++] = slot * per_group + k;
    }
  }
  report_places(l, report, waves, n_waves);
  free(live);
}

int run_launch(const Launch *l) {
  U32 n_waves = (l->group_size + WAVE - 1) / WAVE, n_slots = l->n_groups < l->resident ? l->n_groups : l->resident;
  U64 random = l->seed * 0x9E3779B97F4A7C15ull + 0x2545F4914F6CDD1Dull;
  Report *report = (Report *)l->report;
  Group *groups = calloc(n_slots, sizeof *groups);
  Wave *waves = calloc((size_t)n_slots * n_waves, sizeof *waves);
  Line *shared[2] = {NULL, NULL};
  for (int k = 0; k < 2 && RDNA && l->caches; k++) shared[k] = calloc(l->n_lines, sizeof(Line));
  for (U32 g = 0; g < n_slots; g++) {
    groups[g].shared = shared[g % 2];
    groups[g].n_waves = n_waves;
    groups[g].local = malloc(l->n_local + 16);
    for (int k = 0; k < 2 && l->caches; k++) groups[g].lines[k] = calloc(l->n_lines, sizeof(Line));
    for (U32 k = 0; k < n_waves; k++) {
      Wave *w = waves + g * n_waves + k;
      w->launch = l;
      w->report = report;
      w->random = &random;
      w->last = (const Range *)l->ranges;
      w->v = malloc((size_t)l->n_vectors * WAVE * sizeof(U32));
      w->scratch = calloc(WAVE, l->n_private + 16);
    }
    start_group(waves + g * n_waves, groups + g, l, g);
  }
  if (!random) random = 1;
  run_waves(l, report, waves, groups, n_slots, &random);
  for (U32 k = 0; k < n_slots * n_waves; k++) {
    free(waves[k].v);
    free(waves[k].scratch);
  }
  for (U32 g = 0; g < n_slots; g++) {
    free(groups[g].local);
    free(groups[g].lines[0]);
    free(groups[g].lines[1]);
  }
  free(shared[0]);
  free(shared[1]);
  free(waves);
  free(groups);
  return (int)report->status;
}
