/** A member knows its place in the list, so that it is taken out without a search. */
export type Listed = { slot: number }

/**
 * What is under way now, in no order. An array and not a Set: a Set that much goes in and out of
 * leaves a chain of old tables behind, and those that the garbage collector has promoted keep
 * what has ended alive until the next full collection. That cost the proxy a quarter of its time.
 */
export class SlotList<T extends Listed> {
  readonly #members: T[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: T): void {
    member.slot = this.#members.push(member) - 1
  }

  /** Takes out a member, which must be in; the last one takes its place. */
  remove(member: T): void {
    const last = this.#members.pop()
    if (last === undefined || last === member) return
    this.#members[member.slot] = last
    last.slot = member.slot
  }

  /** A copy, so that members may go while one looks at them. */
  all(): T[] {
    return [...this.#members]
  }
}
