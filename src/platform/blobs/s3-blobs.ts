import { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3'
import {
  assertBlobName,
  assertBlobPrefix,
  BlobMissing,
  type BlobStat,
  type Blobs,
} from './contract.ts'
import { callS3, isMissing, sendOptions, translateStreamErrors } from './s3-failure.ts'
import { upload } from './s3-upload.ts'

/** Location of the bucket, and limits of its requests. */
export type S3BlobsOptions = {
  bucket: string
  /** Prefix of every key, without slashes at its ends. May be empty. */
  prefix: string
  /** `https://…` of an S3-compatible store. */
  endpoint?: string | undefined
  region?: string | undefined
  /** By default, the SDK's credential chain finds them: environment, files, the role of the pod. */
  credentials?: { access_key_id: string; secret_access_key: string } | undefined
  /** The bucket in the path instead of the host name. */
  path_style: boolean
  /** Attempts per request. The SDK waits between them with back-off and jitter. */
  attempts_max: number
  connect_timeout_ms: number
  /** Maximum silence on a connection. */
  request_timeout_ms: number
  connections_max: number
  /** Part size of multipart uploads. S3 accepts 5 MiB to 5 GiB, and 10,000 parts. */
  part_bytes: number
}

/** Opens blobs as objects in a bucket of S3 or an S3-compatible store. */
export function openS3Blobs(options: S3BlobsOptions): Blobs {
  const client = createClient(options)
  const { bucket: Bucket, part_bytes } = options
  const before = options.prefix === '' ? '' : `${options.prefix}/`
  const of = (name: string) => {
    assertBlobName(name)
    return { Bucket, Key: `${before}${name}` }
  }
  return {
    place: `s3://${Bucket}/${before}`,
    put: (name, content, callOptions = {}) =>
      upload({ client, name, target: of(name), content, part_bytes, ...callOptions }),
    get: async (name, callOptions) => {
      const command = new GetObjectCommand(of(name))
      const { Body } = await callS3(`get ${name}`, callOptions?.signal, () =>
        client.send(command, sendOptions(callOptions?.signal)),
      )
      if (!(Body instanceof Readable)) throw new BlobMissing(`there is no blob ${name}`)
      return translateStreamErrors(Body, name, callOptions?.signal)
    },
    stat: async (name, callOptions) => {
      const command = new HeadObjectCommand(of(name))
      try {
        const { ContentLength = 0 } = await callS3(`stat ${name}`, callOptions?.signal, () =>
          client.send(command, sendOptions(callOptions?.signal)),
        )
        return { name, bytes: ContentLength }
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },
    list: (prefix, callOptions) => {
      assertBlobPrefix(prefix)
      return listObjects(client, { Bucket, before, prefix }, callOptions?.signal)
    },
    delete: async (name, callOptions) => {
      const command = new DeleteObjectCommand(of(name))
      await callS3(`delete ${name}`, callOptions?.signal, () =>
        client.send(command, sendOptions(callOptions?.signal)),
      )
    },
    discardUnfinished: (prefix, callOptions) => {
      assertBlobPrefix(prefix)
      return abortUploads(client, { Bucket, before, prefix }, callOptions?.signal)
    },
    close: () => client.destroy(),
  }
}

function createClient(options: S3BlobsOptions): S3Client {
  const { endpoint, region, credentials } = options
  return new S3Client({
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    ...(credentials && {
      credentials: {
        accessKeyId: credentials.access_key_id,
        secretAccessKey: credentials.secret_access_key,
      },
    }),
    forcePathStyle: options.path_style,
    maxAttempts: options.attempts_max,
    // S3-compatible stores support few of the newer checksums. Uploads send SHA-256.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: options.connect_timeout_ms,
      socketTimeout: options.request_timeout_ms,
      httpsAgent: { maxSockets: options.connections_max },
      httpAgent: { maxSockets: options.connections_max },
    },
  })
}

type Place = { Bucket: string; before: string; prefix: string }

/** Maximum keys per response, the limit of S3. */
const page_max = 1_000

/** Lists the objects of a prefix in the order of their keys. */
async function* listObjects(
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
    const page = await callS3(`list ${prefix}`, signal, () =>
      client.send(command, sendOptions(signal)),
    )
    for (const { Key = '', Size = 0 } of page.Contents ?? []) {
      yield { name: Key.slice(before.length), bytes: Size }
    }
    after = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (after !== undefined)
}

/** Aborts unfinished uploads of a prefix, whose parts would otherwise be stored and paid for. */
async function abortUploads(
  client: S3Client,
  { Bucket, before, prefix }: Place,
  signal: AbortSignal | undefined,
): Promise<void> {
  const Prefix = `${before}${prefix}`
  const asked = new ListMultipartUploadsCommand({ Bucket, Prefix, MaxUploads: page_max })
  const { Uploads = [] } = await callS3(`list uploads of ${prefix}`, signal, () =>
    client.send(asked, sendOptions(signal)),
  )
  for (const { Key, UploadId } of Uploads) {
    if (!Key?.startsWith(Prefix)) continue
    const command = new AbortMultipartUploadCommand({ Bucket, Key, UploadId })
    await callS3('abort an upload', signal, () => client.send(command, sendOptions(signal)))
  }
}
