import { expect, test } from 'vitest'
import { BlobsUnavailable } from './contract.ts'
import { openDirectoryBlobs } from './directory-blobs.ts'

test.runIf(process.platform === 'linux')('where no folder can be made, a put says so', async () => {
  const blobs = openDirectoryBlobs({ directory: '/proc/looptrace/blobs' })
  const put = blobs.put('days/a.parquet', [Buffer.from('x')])
  await expect(put).rejects.toThrow(BlobsUnavailable)
  await expect(put).rejects.toThrow('/proc/looptrace can not be used (ENOENT of mkdir)')
})
