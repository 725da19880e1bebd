import type { Job } from '../../jobs/index.ts'

/** What is deleted, by kind; with what an earlier attempt had counted and may have deleted. */
export class ErasedCounts {
  readonly #before: Readonly<Record<string, number>>
  readonly all: Record<string, number>

  constructor({ progress }: Pick<Job, 'progress'>) {
    this.#before = { ...((progress?.['counts'] ?? {}) as Record<string, number>) }
    this.all = { tasks: 0, conversations: 0, ...this.#before }
  }

  /** Rows that go in a round; in the first one they may be those that an earlier attempt counted. */
  add(counted: Readonly<Record<string, number>>, round: number): void {
    for (const [kind, rows] of Object.entries(counted)) {
      this.all[kind] =
        round === 0 ? Math.max(rows, this.#before[kind] ?? 0) : (this.all[kind] ?? 0) + rows
    }
  }

  addOwned(owned: Readonly<Record<'tasks' | 'conversations', number>>): void {
    for (const kind of ['tasks', 'conversations'] as const) {
      this.all[kind] = (this.all[kind] ?? 0) + owned[kind]
    }
  }
}
