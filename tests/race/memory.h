/* Weak memory for the scheduler: a relaxed load may return an older value, unless something rules it out.
 *
 * Every word keeps the values it has had during a launch, in their order.  A work-item has seen each word up to a place
 * in that order, and a load returns the value of that place or of a later one.  A store publishes what its work-item had
 * seen at its last fence.  A work-item that loads the stored value has seen the same after its next fence.  An atomic
 * update reads the last value, and publishes what the store of that value published, too.  Barriers and sg_sync() share
 * what the work-items have seen.
 * This is C11 without loads that foresee stores; after J. Kang, C. Hur, O. Lahav, V. Vafeiadis, D. Dreyer, "A promising
 * semantics for relaxed-memory concurrency", POPL 2017.  Plain accesses go to the memory itself: ThreadSanitizer is for
 * those.
 */
#pragma once

namespace memory {
typedef std::vector<uint> View;  /* view[number of a word]: the place up to which it was seen */
static void join(View &view, const View &other) {
  if (view.size() < other.size()) view.resize(other.size());
  uint *to = view.data();
  for (const uint *from = other.data(), *end = from + other.size(); from < end; from++, to++)
    if (*to < *from) *to = *from;
}
static uint &place_in(View &view, size_t word) {
  if (view.size() <= word) view.resize(word + 1);
  return view[word];
}

struct Seen {
  View now, after_fence, published;
};
struct Value {
  ulong bits;
  View published;
};
struct Word {
  size_t number;
  std::vector<Value> values;
};
static std::unordered_map<const volatile void *, Word> words;
static bool is_weak;             /* Whether this seed lets loads return older values. */
static Seen &seen();             /* The places that the running work-item has seen. */
static Random loads(1);

static ulong bits_at(const volatile void *p, size_t size) {
  ulong bits = 0;
  memcpy(&bits, const_cast<const void *>(p), size);
  return bits;
}

/* The word at p; a plain store makes its value the only one. */
static Word &word_at(const volatile void *p, size_t size) {
  const ulong bits = bits_at(p, size);
  auto [found, is_new] = words.try_emplace(p, Word{words.size(), {}});
  Word &word = found->second;
  if (is_new) word.values.push_back({bits, {}});
  else if (word.values.back().bits != bits) word.values.assign(word.values.size() + 1, {bits, {}});
  return word;
}

/* Local memory is not looked at: it begins and ends here. */
extern "C" char __start_local_memory[] __attribute__((weak)), __stop_local_memory[] __attribute__((weak));
static bool is_local(const volatile void *p) { return p >= __start_local_memory && p < __stop_local_memory; }

template <class T> static T as_seen(const volatile T *p, T last) {
  if (!is_weak || is_local(p)) return last;
  Word &word = word_at(p, sizeof(T));
  uint &at = place_in(seen().now, word.number);
  const uint newest = (uint)word.values.size() - 1;
  at = loads.below(2) ? newest : at + loads.below(newest - at + 1);
  join(seen().after_fence, word.values[at].published);
  T value;
  memcpy(&value, &word.values[at].bits, sizeof(T));
  return value;
}

/* Lives while a word is written; is_step: in one step with reading it. */
struct Update {
  const volatile void *p;
  size_t size;
  bool is_step, is_kept;
  Update(const volatile void *p, size_t size, bool is_step) : p(p), size(size), is_step(is_step), is_kept(is_weak && !is_local(p)) {
    if (is_kept) word_at(p, size);
  }
  ~Update() {
    if (!is_kept) return;
    Word &word = words[p];
    View published = seen().published;
    if (is_step) {
      join(seen().after_fence, word.values.back().published);
      join(published, word.values.back().published);
    }
    word.values.push_back({bits_at(p, size), published});
    place_in(seen().now, word.number) = (uint)word.values.size() - 1;
  }
};

static void fence() {
  if (!is_weak) return;
  join(seen().now, seen().after_fence);
  seen().published = seen().now;
}
}
