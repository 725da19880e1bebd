/**
 * What a store of observations can do. The suite that every store must pass asks of each what it
 * says here, and holds that the rest is refused, or missing, and not wrong.
 */
export type StoreCapabilities = {
  /** Roll-ups of tasks and conversations, and the traces of a conversation. */
  rollups: boolean
  /** Rows of any age; else only those of the hot window. */
  whole_history: boolean
  /** Archives are written from it. */
  archive_source: boolean
  /** Text may hold U+0000; else U+FFFD stands in its place. */
  nul_in_text: boolean
  /** Entities that queries can be compiled for. */
  entities: readonly string[]
}

/** Of the two stores. */
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
