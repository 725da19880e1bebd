import type { ValueTable } from '../contract-shape.ts'
import { valueTables as first } from '../phase9/value-tables.ts'

/** The value tables of phase9-otlp-v1.1: those of the first contract, with the words added since. */
export const valueTables: Readonly<Record<string, ValueTable>> = {
  ...first,
  operation_names: {
    values: {
      ...first['operation_names']?.values,
      // Strands Agents: one turn of an agent's loop, and agents that work together.
      execute_event_loop_cycle: 'chain',
      invoke_swarm: 'chain',
      invoke_graph: 'chain',
    },
  },
}
