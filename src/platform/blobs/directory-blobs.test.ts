import { expect, test } from 'vitest'
import { BlobsUnavailable } from './contract.ts'
import { openDirectoryBlobs } from './directory-blobs.ts'

test.runIf(process.platform === 'linux')(
  'a put reports a folder that it cannot create',
  async () => {
    const blobs = openDirectoryBlobs({ directory: '/proc/looptrace/blobs' })
    const put = blobs.put('days/a.parquet', [Buffer.from('x')])
    await expect(put).rejects.toThrow(BlobsUnavailable)
    await expect(put).rejects.toThrow('/proc/looptrace cannot be used (ENOENT of mkdir)')
  },
)
