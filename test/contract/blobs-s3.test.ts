import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Blobs,
  BlobsMisplaced,
  BlobsUnavailable,
  openBlobs,
} from '../../src/platform/blobs/index.ts'
import { blobsOptions } from '../support/blobs.ts'
import { type S3Server, startS3Server } from '../support/s3-server.ts'

let directory = ''
let server: S3Server

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-s3-'))
  server = await startS3Server({ directory })
})
afterAll(async () => {
  await server.stop()
  await rm(directory, { recursive: true, force: true })
})

const openAt = (url: string) => openBlobs(blobsOptions(url, server))
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

test('an unavailable store differs from a missing blob, and recovers', async () => {
  const blobs = openAt(`s3://${server.bucket}/away`)
  const content = randomBytes(100)
  await blobs.put('a.bin', [content])
  await server.kill()
  const failures = await Promise.all([
    failureOf(blobs.put('b.bin', [content])),
    failureOf(blobs.get('a.bin')),
    failureOf(blobs.stat('a.bin')),
    failureOf(blobs.delete('a.bin')),
    failureOf(listed(blobs)),
    failureOf(blobs.discardUnfinished('')),
  ])
  for (const failure of failures) expect(failure).toBeInstanceOf(BlobsUnavailable)
  await server.restart()
  expect(await buffer(await blobs.get('a.bin'))).toEqual(content)
  blobs.close()
})

test('a store that dies during a large put fails it, and the put works again', async () => {
  const blobs = openAt(`s3://${server.bucket}/dies`)
  const part = randomBytes(6 * 1024 * 1024)
  const dying = async function* () {
    yield part
    yield part
    await server.kill()
    yield part
  }
  expect(await failureOf(blobs.put('a.bin', dying()))).toBeInstanceOf(BlobsUnavailable)
  await server.restart()
  expect(await blobs.stat('a.bin')).toBeUndefined()
  await blobs.discardUnfinished('')
  await blobs.put('a.bin', [part, part, part])
  expect((await buffer(await blobs.get('a.bin'))).equals(Buffer.concat([part, part, part]))).toBe(
    true,
  )
  blobs.close()
})

test('wrong credentials and missing buckets are failures of the store that show no secret', async () => {
  const options = blobsOptions(`s3://${server.bucket}`, server)
  const secret_access_key = 'not-the-secret-of-this-account'
  const stranger = openBlobs({
    ...options,
    credentials: { access_key_id: server.access_key_id, secret_access_key },
  })
  const nowhere = openAt('s3://no-such-bucket-here')
  for (const blobs of [stranger, nowhere]) {
    const asked = [blobs.put('a.bin', [randomBytes(9)]), listed(blobs), blobs.get('a.bin')]
    for (const failure of await Promise.all(asked.map(failureOf))) {
      expect(failure).toBeInstanceOf(BlobsUnavailable)
      const shownError = inspect(failure, { depth: 10 })
      expect(shownError).not.toContain(secret_access_key)
      expect(shownError).not.toContain(server.secret_access_key)
      expect(shownError).not.toContain(server.access_key_id)
      expect(shownError).not.toMatch(/Credential=|Signature=/)
    }
    blobs.close()
  }
})

test('a URL that is invalid, or contains credentials, is refused and not quoted', () => {
  for (const url of [
    's3://key:secret@bucket',
    'https://host/x',
    'file://host/x',
    'nonsense',
    's3://',
  ]) {
    const failure = (() => {
      try {
        return openAt(url)
      } catch (error) {
        return error
      }
    })()
    expect(failure).toBeInstanceOf(BlobsMisplaced)
    expect(String(failure)).not.toContain('secret')
  }
})

async function listed(blobs: Blobs): Promise<void> {
  for await (const _ of blobs.list(''));
}
