export {
  type BlobContent,
  BlobMismatch,
  BlobMissing,
  type BlobStat,
  type Blobs,
  BlobsMisplaced,
  BlobsUnavailable,
  type PutOptions,
  type StoredBlob,
} from './contract.ts'
export { type BlobsOptions, openBlobs } from './open-blobs.ts'
