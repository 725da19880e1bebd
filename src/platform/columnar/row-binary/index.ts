export { ByteReader, MalformedRow } from './byte-reader.ts'
export { ByteWriter } from './byte-writer.ts'
export { compileRowBinary } from './compile-row-binary.ts'
