// Keys -> slots: whole numbers or texts, by open addressing with linear steps.
//
// `table` holds slot + 1, 0 where nothing is; it is at most 3/4 full.  A key that goes leaves no mark:
// those behind it move up (Knuth, 6.4 R).  Its slot is the next to be given out.  Memory per key: 8
// bytes for the key or where its text ends, 5 to 11 for the table, and the text itself.
#pragma once

#include <stdexcept>
#include <string_view>
#include <vector>

#include "arrays.hpp"

namespace noregret::keys {

using Slot = std::uint32_t;
constexpr std::size_t MOST = 0xfffffff0;  // slots
constexpr int LONGEST = 24;                // bits of a text's length in bytes

// The finaliser of SplitMix64: every bit of a key moves every bit of its place.
INLINE std::uint64_t mixed(std::uint64_t h) {
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return h ^ (h >> 31);
}

INLINE std::uint64_t hashed(std::int64_t key) { return mixed(std::uint64_t(key) + 0x9e3779b97f4a7c15u); }
INLINE std::uint64_t hashed(std::string_view text) {
    std::uint64_t h = 0x9e3779b97f4a7c15u ^ text.size();
    for (; text.size() >= 8; text.remove_prefix(8)) {
        std::uint64_t piece;
        std::memcpy(&piece, text.data(), 8);
        h = mixed(h ^ piece);
    }
    std::uint64_t piece = 0;
    std::memcpy(&piece, text.data(), text.size());
    return mixed(h ^ piece);
}

// What is kept of the keys themselves, by slot.
struct Numbers {
    using Key = std::int64_t;
    std::vector<std::int64_t> held;
    Key at(Slot slot) const { return held[slot]; }
    void put(Slot slot, Key key) {
        if (slot == held.size()) held.push_back(key);
        else held[slot] = key;
    }
    std::size_t size() const { return held.size(); }
};

struct Texts {
    using Key = std::string_view;
    struct Span { std::uint64_t start : 40, length : LONGEST; };
    std::vector<Span> held;
    std::vector<char> arena;  // a text that goes stays here until the fleet is stored or split
    Key at(Slot slot) const { return {arena.data() + held[slot].start, std::size_t(held[slot].length)}; }
    void put(Slot slot, Key key) {
        if (key.size() >> LONGEST || (arena.size() + key.size()) >> 40) throw std::length_error("keys");
        Span span{arena.size(), key.size()};
        arena.insert(arena.end(), key.begin(), key.end());
        if (slot == held.size()) held.push_back(span);
        else held[slot] = span;
    }
    std::size_t size() const { return held.size(); }
};

template <class Kept>
class Index {
  public:
    using Key = typename Kept::Key;

    std::size_t size() const { return kept_.size() - free_.size(); }
    std::size_t slots() const { return kept_.size(); }  // those that are free too
    Key at(Slot slot) const { return kept_.at(slot); }

    // The slot of a key, given its hash; -1 if it has none.
    Size find(Key key, std::uint64_t hash) const {
        if (table_.empty()) return -1;
        for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
            if (table_[i] == 0) return -1;
            if (kept_.at(table_[i] - 1) == key) return Size(table_[i] - 1);
        }
    }

    // Where a search for it begins: for whoever looks up many keys one after the other.
    void prefetch(std::uint64_t hash) const {
        if (!table_.empty()) __builtin_prefetch(&table_[hash & mask()]);
    }

    // The slot that it has, or is given now.
    Size give(Key key, std::uint64_t hash) {
        Size found = find(key, hash);
        if (found >= 0) return found;
        if (kept_.size() >= MOST) throw std::length_error("keys");
        if (4 * (size() + 1) > 3 * table_.size()) spread(table_.empty() ? 16 : 2 * table_.size());
        Slot slot = free_.empty() ? Slot(kept_.size()) : free_.back();
        kept_.put(slot, key);
        if (!free_.empty()) free_.pop_back();
        place(slot);
        return Size(slot);
    }

    // Forget the key of a slot, which is then free.
    void drop(Slot slot) {
        free_.push_back(slot);
        std::size_t i = hashed(kept_.at(slot)) & mask();
        while (table_[i] != slot + 1) i = (i + 1) & mask();
        for (std::size_t j = (i + 1) & mask(); table_[j]; j = (j + 1) & mask()) {
            std::size_t home = hashed(kept_.at(table_[j] - 1)) & mask();
            if (((j - home) & mask()) >= ((j - i) & mask())) table_[i] = table_[j], i = j;
        }
        table_[i] = 0;
    }

    // Whether a slot has a key, for all slots.
    std::vector<bool> taken() const {
        std::vector<bool> all(kept_.size(), true);
        for (Slot slot : free_) all[slot] = false;
        return all;
    }

    // Bytes of memory.
    std::size_t room() const {
        std::size_t bytes = table_.capacity() * sizeof(Slot) + free_.capacity() * sizeof(Slot);
        bytes += kept_.held.capacity() * sizeof(kept_.held[0]);
        if constexpr (std::is_same_v<Kept, Texts>) bytes += kept_.arena.capacity();
        return bytes;
    }

  private:
    std::size_t mask() const { return table_.size() - 1; }
    void place(Slot slot) {
        std::size_t i = hashed(kept_.at(slot)) & mask();
        while (table_[i]) i = (i + 1) & mask();
        table_[i] = slot + 1;
    }
    void spread(std::size_t size) {
        std::vector<Slot> old(size, 0);
        old.swap(table_);
        for (Slot slot : old)
            if (slot) place(slot - 1);
    }

    Kept kept_;
    std::vector<Slot> table_, free_;
};

}  // namespace noregret::keys
