import { text } from 'node:stream/consumers'
import type { Blobs } from '../../../platform/blobs/index.ts'
import type { CheckpointSource } from './outside-positions.ts'
import type { CheckpointSink } from './publish-checkpoints.ts'

/** A sink in a folder or bucket, whose checkpoints can be read back. */
export type BlobSink = { publish: CheckpointSink; read: CheckpointSource }

/** Creates a sink of files, one for each checkpoint. */
export function openBlobSink(blobs: Blobs): BlobSink {
  return {
    publish: async ({ name, envelope }) => {
      // A checkpoint is never replaced, even in a bucket without object lock.
      if ((await blobs.stat(name)) === undefined) await blobs.put(name, [Buffer.from(envelope)])
    },
    read: async (chain_id, { from, signal }) => {
      const files: CheckpointFile[] = []
      for await (const { name, bytes } of blobs.list(`${chain_id}/`, { signal })) {
        const seq = checkpointName.exec(name)?.[1]
        if (seq !== undefined && bytes <= envelope_bytes_max) files.push({ name, seq: Number(seq) })
      }
      const { names, end } = chooseFiles(files, from)
      return { envelopes: await readAll(blobs, names, signal), end }
    },
  }
}

/** A checkpoint in a sink, by its name. */
type CheckpointFile = { name: string; seq: number }

/** Maximum checkpoints of a sink that one check reads, besides the newest. */
const files_max = 1_000
/** Files that are read at one time. */
const reads_max = 16

/**
 * Returns the files from a number on and the newest one, and the number up to which they are all.
 * Names have the number of the record with leading zeros, so they are in its order.
 */
function chooseFiles(files: readonly CheckpointFile[], from: number) {
  const wanted = files.filter(({ seq }) => seq >= from)
  const chosen = wanted.slice(0, files_max)
  const isAll = chosen.length === wanted.length
  const names = new Set([...chosen, ...files.slice(-1)].map(({ name }) => name))
  return { names: [...names], end: isAll ? Number.MAX_SAFE_INTEGER : (chosen.at(-1)?.seq ?? 0) }
}

async function readAll(blobs: Blobs, names: readonly string[], signal: AbortSignal) {
  const envelopes: string[] = []
  for (let at = 0; at < names.length; at += reads_max) {
    const page = names.slice(at, at + reads_max)
    const read = page.map(async (name) => text(await blobs.get(name, { signal })))
    envelopes.push(...(await Promise.all(read)))
  }
  return envelopes
}

const checkpointName = /\/(\d{16})-(?:head|pruned)\.json$/

/** An envelope has less than 1 KiB. Larger files are not of this service. */
const envelope_bytes_max = 65_536
