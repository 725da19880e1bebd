import { createHash } from 'node:crypto'
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { type BlobContent, contentHash, type PutOptions, type StoredBlob } from './contract.ts'
import { callS3, sendOptions } from './s3-failure.ts'

/** A blob to upload. */
type Upload = PutOptions & {
  client: S3Client
  name: string
  target: { Bucket: string; Key: string }
  content: BlobContent
  part_bytes: number
}

/**
 * Uploads a blob: in one request if it fits in a part, otherwise part by part. The object appears
 * with the last request. A failed multipart upload is aborted.
 */
export async function upload(blob: Upload): Promise<StoredBlob> {
  const { name, content, part_bytes, sha256 } = blob
  const hash = contentHash()
  const parts = splitIntoParts(content, part_bytes, hash.add)
  const { value: first = new Uint8Array(0), done } = await parts.next()
  // Only the next call shows whether the first part was the last.
  const second = done ? undefined : await parts.next()
  if (second === undefined || second.done) {
    const stored = hash.end(name, sha256)
    await putObject(blob, first, stored.sha256)
    return stored
  }
  const upload_id = await createUpload(blob)
  try {
    const completed = [await putPart(blob, upload_id, 1, first)]
    let next: IteratorResult<Uint8Array, void> = second
    while (!next.done) {
      completed.push(await putPart(blob, upload_id, completed.length + 1, next.value))
      next = await parts.next()
    }
    const stored = hash.end(name, sha256)
    await completeUpload(blob, upload_id, completed)
    return stored
  } catch (cause) {
    await abortUpload(blob, upload_id)
    throw cause
  }
}

function send({ client, name, signal }: Upload) {
  return {
    options: sendOptions(signal),
    call: <T>(work: () => Promise<T>) => callS3(`put ${name}`, signal, work),
    client,
  }
}

async function putObject(blob: Upload, bytes: Uint8Array, sha256: string): Promise<void> {
  const { client, options, call } = send(blob)
  const command = new PutObjectCommand({
    ...blob.target,
    Body: bytes,
    ContentLength: bytes.length,
    ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
  })
  await call(() => client.send(command, options))
}

async function createUpload(blob: Upload): Promise<string> {
  const { client, options, call } = send(blob)
  const command = new CreateMultipartUploadCommand({
    ...blob.target,
    ChecksumAlgorithm: 'SHA256',
  })
  const { UploadId = '' } = await call(() => client.send(command, options))
  return UploadId
}

async function putPart(
  blob: Upload,
  UploadId: string,
  PartNumber: number,
  bytes: Uint8Array,
): Promise<CompletedPart> {
  const { client, options, call } = send(blob)
  const ChecksumSHA256 = createHash('sha256').update(bytes).digest('base64')
  const command = new UploadPartCommand({
    ...blob.target,
    UploadId,
    PartNumber,
    Body: bytes,
    ContentLength: bytes.length,
    ChecksumSHA256,
  })
  const { ETag } = await call(() => client.send(command, options))
  return { PartNumber, ChecksumSHA256, ...(ETag !== undefined && { ETag }) }
}

async function completeUpload(
  blob: Upload,
  UploadId: string,
  Parts: CompletedPart[],
): Promise<void> {
  const { client, options, call } = send(blob)
  const MultipartUpload = { Parts }
  const command = new CompleteMultipartUploadCommand({
    ...blob.target,
    UploadId,
    MultipartUpload,
  })
  await call(() => client.send(command, options))
}

const abort_ms_max = 5_000

/**
 * Aborts an upload, also after the signal aborted. A lifecycle rule of the bucket covers failures.
 */
async function abortUpload({ client, target }: Upload, UploadId: string): Promise<void> {
  const command = new AbortMultipartUploadCommand({ ...target, UploadId })
  const options = { abortSignal: AbortSignal.timeout(abort_ms_max) }
  await client.send(command, options).catch(() => undefined)
}

/**
 * Splits the content into parts of exactly `part_bytes`; the last part may be shorter. At most one
 * part is in memory. Calls `onChunk` with every incoming chunk.
 */
async function* splitIntoParts(
  content: BlobContent,
  part_bytes: number,
  onChunk: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void> {
  let kept: Uint8Array[] = []
  let length = 0
  const keep = (bytes: Uint8Array) => {
    kept.push(bytes)
    length += bytes.length
  }
  const takePart = () => {
    const part = Buffer.concat(kept, length)
    kept = []
    length = 0
    return part
  }
  for await (const chunk of content) {
    onChunk(chunk)
    let rest = chunk
    while (length + rest.length >= part_bytes) {
      const missing = part_bytes - length
      keep(rest.subarray(0, missing))
      yield takePart()
      rest = rest.subarray(missing)
    }
    if (rest.length > 0) keep(rest)
  }
  if (length > 0) yield takePart()
}
