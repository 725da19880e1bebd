import type { Sample } from '../../src/capabilities/incidents/evaluation/contract.ts'
import type { Rule } from '../../src/capabilities/incidents/index.ts'
import type { Measured, MeasuredSlot, Signals } from '../../src/capabilities/incidents/ports.ts'
import type { Group } from '../../src/capabilities/incidents/rules/groups.ts'
import { valueSample } from './incident-steps.ts'

/** Values of a rule at the end of a slot: of its groups, or of the whole project. */
export type FakeValues = (
  rule: Rule,
  end_ms: number,
) => number | null | readonly { group: Group; value: number }[] | { error: string }

/** Signals whose values a test decides. */
export class FakeSignals implements Signals {
  values: FakeValues
  lag_ms = 0
  /** Rejects as an unavailable store. */
  isDown = false
  /** Number of measured slots. */
  measured = 0
  /** Called between measuring and the answer. */
  beforeAnswer: () => Promise<void> = async () => undefined

  constructor(values: FakeValues) {
    this.values = values
  }

  async measure({ slots }: Parameters<Signals['measure']>[0]): Promise<Measured[]> {
    if (this.isDown) throw new Error('connect ECONNREFUSED clickhouse:8123')
    const { lag_ms } = this
    this.measured += slots.length
    const measured = slots.map((slot) => this.#measureSlot(slot, lag_ms))
    await this.beforeAnswer()
    return measured
  }

  async lag(): Promise<number> {
    return this.lag_ms
  }

  #measureSlot(slot: MeasuredSlot, lag_ms: number): Measured {
    const values = this.values(slot.rule, slot.end_ms)
    const empty = { ...valueSample(null), lag_ms } as Sample
    if (values !== null && typeof values === 'object' && 'error' in values) {
      return { ...slot, error: values.error }
    }
    const given = typeof values === 'number' ? [{ group: {}, value: values }] : (values ?? [])
    const groups = given.map(({ group, value }) => {
      return { group, sample: { ...valueSample(value), lag_ms } as Sample }
    })
    return { ...slot, groups, empty, others: 0 }
  }
}
