export type { ColumnarOptions } from './columnar-client.ts'
export {
  type AcrossProjects,
  type Columnar,
  ColumnarError,
  type ColumnarReads,
  type ColumnarServer,
  type ColumnarStatements,
  ColumnarUnavailable,
  type InsertOptions,
  type ProjectColumnar,
  type QueryOptions,
  type QueryParam,
  type QueryParams,
  type ReadOptions,
  type ReadResult,
} from './contract.ts'
export {
  type EmbeddedClickHouse,
  type EmbeddedClickHouseOptions,
  startEmbeddedClickHouse,
} from './embedded/start-embedded-clickhouse.ts'
export {
  type ColumnarMigrateOptions,
  columnarSchemaStatus,
  migrateColumnar,
} from './migrate-columnar.ts'
export { openColumnar } from './open-columnar.ts'
export { renderStatement, type SchemaTarget } from './render-statement.ts'
export {
  compileRowBinary,
  type RowBinaryColumn,
  type RowBinaryEncoder,
  RowBinaryError,
} from './row-binary/compile-row-binary.ts'
