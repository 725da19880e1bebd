import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { BlobStat } from '../contract.ts'
import { asS3Reached } from './s3-failure.ts'
import { sendOptions } from './send-options.ts'

type Place = { Bucket: string; before: string; prefix: string }

/** Keys of one answer, S3's own bound. */
const page_max = 1_000

/** The objects of a prefix, in the order of their keys. */
export async function* listObjects(
  client: S3Client,
  { Bucket, before, prefix }: Place,
  signal: AbortSignal | undefined,
): AsyncGenerator<BlobStat> {
  let after: string | undefined
  do {
    const command = new ListObjectsV2Command({
      Bucket,
      Prefix: `${before}${prefix}`,
      MaxKeys: page_max,
      ...(after !== undefined && { ContinuationToken: after }),
    })
    const page = await asS3Reached(`list ${prefix}`, signal, () =>
      client.send(command, sendOptions(signal)),
    )
    for (const { Key = '', Size = 0 } of page.Contents ?? []) {
      yield { name: Key.slice(before.length), bytes: Size }
    }
    after = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (after !== undefined)
}

/** Gives up the uploads of a prefix that never ended; their parts would be paid for for ever. */
export async function giveUpUploads(
  client: S3Client,
  { Bucket, before, prefix }: Place,
  signal: AbortSignal | undefined,
): Promise<void> {
  const Prefix = `${before}${prefix}`
  const asked = new ListMultipartUploadsCommand({ Bucket, Prefix, MaxUploads: page_max })
  const { Uploads = [] } = await asS3Reached(`list uploads of ${prefix}`, signal, () =>
    client.send(asked, sendOptions(signal)),
  )
  for (const { Key, UploadId } of Uploads) {
    if (!Key?.startsWith(Prefix)) continue
    const command = new AbortMultipartUploadCommand({ Bucket, Key, UploadId })
    await asS3Reached('give up an upload', signal, () => client.send(command, sendOptions(signal)))
  }
}
