/** A member that knows its index in the list, so that removal needs no search. */
export type Listed = { slot: number }

/**
 * The things under way, in no order. It is an array because a Set with many insertions and removals
 * leaves a chain of old tables behind. Those that the garbage collector has promoted keep removed
 * members alive until the next full collection, which cost the proxy a quarter of its time.
 */
export class SlotList<T extends Listed> {
  readonly #members: T[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: T): void {
    member.slot = this.#members.push(member) - 1
  }

  /** Removes a member of the list; the last member moves to its slot. */
  remove(member: T): void {
    const last = this.#members.pop()
    if (last === undefined || last === member) return
    this.#members[member.slot] = last
    last.slot = member.slot
  }

  /** Returns a copy, so that members may be removed during iteration. */
  all(): T[] {
    return [...this.#members]
  }
}
