import { fileURLToPath } from 'node:url'
import { type Blobs, BlobsMisplaced } from './contract.ts'
import { openDirectoryBlobs } from './directory-blobs.ts'
import { openS3Blobs, type S3BlobsOptions } from './s3-blobs.ts'

export {
  BlobMismatch,
  BlobMissing,
  type Blobs,
  BlobsMisplaced,
  BlobsUnavailable,
} from './contract.ts'

/** Location of the blobs, and options of S3. */
export type BlobsOptions = Omit<S3BlobsOptions, 'bucket' | 'prefix'> & {
  /** `file:///folder` or `s3://bucket/prefix`. */
  url: string
}

/** Opens the blobs of a URL, without a request yet. Throws BlobsMisplaced. */
export function openBlobs({ url, ...s3 }: BlobsOptions): Blobs {
  const { protocol, host, pathname, username } = URL.parse(url) ?? {}
  if (protocol === 'file:' && host === '') {
    return openDirectoryBlobs({ directory: fileURLToPath(url) })
  }
  if (protocol === 's3:' && host && !username) {
    const prefix = decodeURIComponent(pathname ?? '').replace(/^\/+|\/+$/g, '')
    return openS3Blobs({ ...s3, bucket: host, prefix })
  }
  // The URL is not quoted, because it may contain credentials.
  throw new BlobsMisplaced(
    'the URL of the blobs is invalid: expected file:///folder or s3://bucket/prefix, without credentials',
  )
}
