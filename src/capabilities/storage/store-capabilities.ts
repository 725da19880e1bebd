/**
 * The capabilities of a store of observations. The contract suite tests each declared capability,
 * and that others are refused or absent rather than wrong.
 */
export type StoreCapabilities = {
  /** Roll-ups of tasks and conversations, and the traces of a conversation. */
  rollups: boolean
  /** Holds rows of any age; otherwise only those of the hot window. */
  whole_history: boolean
  /** Source of archives. */
  archive_source: boolean
  /** Stores U+0000 in text; otherwise replaces it with U+FFFD. */
  nul_in_text: boolean
  /** Entities that queries can be compiled for. */
  entities: readonly string[]
}

/** The capabilities of both stores. */
export const storeCapabilities = {
  clickhouse: {
    rollups: true,
    whole_history: true,
    archive_source: true,
    nul_in_text: true,
    entities: ['observations', 'traces', 'events', 'links', 'correlations'],
  },
  postgres: {
    rollups: false,
    whole_history: false,
    archive_source: false,
    nul_in_text: false,
    entities: ['observations', 'traces', 'tasks', 'findings'],
  },
} as const satisfies Record<'clickhouse' | 'postgres', StoreCapabilities>
