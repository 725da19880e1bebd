import { createHash, randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BlobMismatch, BlobMissing, type Blobs } from '../../src/platform/blobs/index.ts'
import { directoryDriver, killedPut, s3Driver } from '../support/blobs.ts'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const read = async (blobs: Blobs, name: string) => buffer(await blobs.get(name))
const mib = 1024 * 1024

describe.each([directoryDriver(), s3Driver()])('$name', (driver) => {
  beforeAll(() => driver.start())
  afterAll(() => driver.stop())

  test.each([
    ['nothing', 0],
    ['one byte', 1],
    ['exactly a part', 5 * mib],
    ['a part and a byte', 5 * mib + 1],
    ['several parts', 12 * mib + 12_345],
  ])('%s is returned as it was put, with its size and hash', async (_, bytes) => {
    const blobs = driver.open()
    const content = randomBytes(bytes)
    const expected = sha256(content)
    const stored = await blobs.put('a/b.bin', chunks(content, 100_000), { sha256: expected })
    expect(stored).toEqual({ name: 'a/b.bin', bytes, sha256: expected })
    expect(sha256(await read(blobs, 'a/b.bin'))).toBe(expected)
    expect(await blobs.stat('a/b.bin')).toEqual({ name: 'a/b.bin', bytes })
  })

  test('a put replaces the blob of that name; a deleted blob is gone, and may be deleted again', async () => {
    const blobs = driver.open()
    await blobs.put('a/b.json', [Buffer.from('first')])
    await blobs.put('a/b.json', [Buffer.from('second')])
    expect(String(await read(blobs, 'a/b.json'))).toBe('second')
    await blobs.delete('a/b.json')
    await blobs.delete('a/b.json')
    expect(await blobs.stat('a/b.json')).toBeUndefined()
    await expect(blobs.get('a/b.json')).rejects.toBeInstanceOf(BlobMissing)
    await expect(blobs.get('never/was')).rejects.toBeInstanceOf(BlobMissing)
  })

  test('bytes with another hash than announced are not stored, small or large', async () => {
    const blobs = driver.open()
    for (const bytes of [10, 11 * mib]) {
      await blobs.put('kept.bin', [Buffer.from('before')])
      const put = blobs.put('kept.bin', chunks(randomBytes(bytes), mib), {
        sha256: sha256(Buffer.from('x')),
      })
      await expect(put).rejects.toBeInstanceOf(BlobMismatch)
      expect(String(await read(blobs, 'kept.bin'))).toBe('before')
    }
    expect(await names(blobs, '')).toEqual(['kept.bin'])
  })

  test('an interrupted content leaves nothing behind', async () => {
    const blobs = driver.open()
    const files = (await driver.filesOf(blobs)).length
    const breaking = async function* () {
      yield randomBytes(6 * mib)
      yield randomBytes(6 * mib)
      throw new Error('the source broke')
    }
    await expect(blobs.put('a/broken.bin', breaking())).rejects.toThrow('the source broke')
    expect(await blobs.stat('a/broken.bin')).toBeUndefined()
    expect(await driver.filesOf(blobs)).toHaveLength(files)
  })

  test('an aborted put stores nothing, and an aborted get ends', async () => {
    const blobs = driver.open()
    const files = (await driver.filesOf(blobs)).length
    const stop = new AbortController()
    const aborting = async function* () {
      yield randomBytes(6 * mib)
      yield randomBytes(6 * mib)
      stop.abort(new Error('enough'))
      yield randomBytes(mib)
    }
    await expect(blobs.put('a/b.bin', aborting(), { signal: stop.signal })).rejects.toThrow(
      'enough',
    )
    expect(await blobs.stat('a/b.bin')).toBeUndefined()
    expect(await driver.filesOf(blobs)).toHaveLength(files)

    await blobs.put('a/c.bin', [randomBytes(8 * mib)])
    const left = new AbortController()
    const stream = await blobs.get('a/c.bin', { signal: left.signal })
    const reading = async () => {
      for await (const _ of stream) left.abort(new Error('seen enough'))
    }
    await expect(reading()).rejects.toThrow()
    for (const signal of [stop.signal]) {
      await expect(blobs.get('a/c.bin', { signal })).rejects.toThrow('enough')
      await expect(blobs.stat('a/c.bin', { signal })).rejects.toThrow('enough')
      await expect(blobs.delete('a/c.bin', { signal })).rejects.toThrow('enough')
    }
  })

  test('a list has all names of the prefix, in the order of their bytes', async () => {
    const blobs = driver.open()
    const put = ['a/1', 'a/10', 'a/2', 'a-b/1', 'a.b', 'b/c/d', 'b/cc', 'zz']
    for (const name of put.toReversed()) await blobs.put(name, [Buffer.from(name)])
    expect(await names(blobs, '')).toEqual(put.toSorted())
    expect(await names(blobs, 'a/')).toEqual(['a/1', 'a/10', 'a/2'])
    expect(await names(blobs, 'a/1')).toEqual(['a/1', 'a/10'])
    expect(await names(blobs, 'b/c')).toEqual(['b/c/d', 'b/cc'])
    expect(await names(blobs, 'nothing/here/')).toEqual([])
  })

  test('the unfinished put of a killed process is aborted, and finished blobs stay', async () => {
    const blobs = driver.open()
    await blobs.put('runs/1/done.bin', [Buffer.from('done')])
    const files = (await driver.filesOf(blobs)).length
    await killedPut(driver.options(blobs), 'runs/1/left.bin')
    expect((await driver.filesOf(blobs)).length).toBeGreaterThan(files)
    expect(await names(blobs, '')).toEqual(['runs/1/done.bin'])
    await blobs.discardUnfinished('runs/2/')
    expect((await driver.filesOf(blobs)).length).toBeGreaterThan(files)
    await blobs.discardUnfinished('runs/1/')
    expect(await driver.filesOf(blobs)).toHaveLength(files)
    expect(String(await read(blobs, 'runs/1/done.bin'))).toBe('done')
  })

  test('names that would leave the prefix are refused before any request', async () => {
    const blobs = driver.open()
    const wrong = [
      '',
      '/a',
      'a/',
      '../a',
      'a/../b',
      'a//b',
      'A',
      'a b',
      'a\0b',
      '.hidden',
      'a/.x',
      'ü',
    ]
    for (const name of [...wrong, `a/${'x'.repeat(300)}`]) {
      await expect(async () => blobs.put(name, [])).rejects.toBeInstanceOf(TypeError)
      await expect(async () => blobs.get(name)).rejects.toBeInstanceOf(TypeError)
      await expect(async () => blobs.delete(name)).rejects.toBeInstanceOf(TypeError)
    }
    await expect(async () => names(blobs, '../')).rejects.toBeInstanceOf(TypeError)
  })
})

const names = async (blobs: Blobs, prefix: string) => {
  const found: string[] = []
  for await (const { name } of blobs.list(prefix)) found.push(name)
  return found
}

function* chunks(content: Buffer, bytes: number) {
  for (let at = 0; at < content.length; at += bytes) yield content.subarray(at, at + bytes)
}
