export { columnarMeters } from './circuit-breaker.ts'
export { checkCluster, quoteText } from './cluster/check-cluster.ts'
export { patchSettings } from './cluster/statement-classes.ts'
export type { ColumnarOptions } from './columnar-client.ts'
export {
  type Columnar,
  ColumnarError,
  type ColumnarReads,
  type ColumnarServer,
  type ColumnarStatements,
  ColumnarUnavailable,
  type HostAnswer,
  type ProjectColumnar,
  type QueryParam,
  type QueryParams,
  type ReadOptions,
} from './contract.ts'
export {
  type EmbeddedClickHouse,
  startEmbeddedClickHouse,
} from './embedded/start-embedded-clickhouse.ts'
export {
  columnarSchemaStatus,
  migrateColumnar,
} from './migrate-columnar.ts'
export { openColumnar } from './open-columnar.ts'
export { renderStatement } from './render-statement.ts'
export {
  compileRowBinary,
  type RowBinaryColumn,
  RowBinaryError,
} from './row-binary/compile-row-binary.ts'
