export {
  type Columnar,
  ColumnarError,
  ColumnarUnavailable,
  type InsertOptions,
  type QueryOptions,
  type QueryParam,
  type QueryParams,
} from './contract.ts'
