/**
 * Every table with rows of projects. The filters of a project's statements cover these tables, and a
 * test compares the list with the catalogue of the migrated schema.
 */
const tenantTables = [
  'correlations',
  'events',
  'ingest_ledger',
  'ingest_ledger_hours',
  'links',
  'observations',
  'restored_correlations',
  'restored_events',
  'restored_links',
  'restored_observations',
  'restored_traces',
  'signal_minutes',
  'signal_minutes_done',
  'traces',
] as const

/**
 * Names of the tables with rows of projects. In a cluster the rows are in the table with the ending
 * `_local`, so both names need the filter: servers send the settings on with their part of a query.
 */
export const filteredTables: readonly string[] = tenantTables.flatMap((name) => [
  name,
  `${name}_local`,
])
