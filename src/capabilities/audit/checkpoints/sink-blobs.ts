import { text } from 'node:stream/consumers'
import type { Blobs } from '../../../platform/blobs/index.ts'
import type { CheckpointSource } from './outside-positions.ts'
import type { CheckpointSink } from './publish-checkpoints.ts'

/** A sink in a folder or bucket, whose checkpoints can be read back. */
export type BlobSink = { publish: CheckpointSink; readNewest: CheckpointSource }

/** Creates a sink of files, one for each checkpoint. */
export function openBlobSink(blobs: Blobs): BlobSink {
  return {
    publish: async ({ name, envelope }) => {
      // A checkpoint is never replaced, even in a bucket without object lock.
      if ((await blobs.stat(name)) === undefined) await blobs.put(name, [Buffer.from(envelope)])
    },
    readNewest: async (chain_id, { signal }) => {
      let newest: string | undefined
      // Names have the number of the record with leading zeros, so the last one is the newest.
      for await (const { name, bytes } of blobs.list(`${chain_id}/`, { signal })) {
        if (isCheckpoint.test(name) && bytes <= envelope_bytes_max) newest = name
      }
      return newest === undefined ? undefined : text(await blobs.get(newest, { signal }))
    },
  }
}

const isCheckpoint = /\/\d{16}-(?:head|pruned)\.json$/

/** An envelope has less than 1 KiB. Larger files are not of this service. */
const envelope_bytes_max = 65_536
