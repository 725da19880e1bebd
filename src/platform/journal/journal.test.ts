import { cp, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mountTinyDisk, noTinyDisk } from '../../../test/support/tiny-disk.ts'
import { FolderInUse, FolderUnusable } from '../folders/index.ts'
import { type JournalOptions, openJournal } from './journal.ts'

let parent: string

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'looptrace-journal-'))
})

afterAll(() => rm(parent, { recursive: true }))

const data = (text: string) => Buffer.from(text)

async function newFolder(): Promise<string> {
  return mkdtemp(join(parent, 'j'))
}

/** A journal whose time is `at`. */
async function open(folder: string, options: Partial<JournalOptions> = {}) {
  const faults: unknown[] = []
  const journal = await openJournal({
    folder,
    bytes_max: 1_000_000,
    onFault: ({ cause }) => faults.push(cause),
    ...options,
  })
  return { journal, faults }
}

/** Copies what is on the disk, as a process finds it that starts after a kill at this moment. */
async function leftIn(folder: string) {
  const copy = join(await newFolder(), 'copy')
  await cp(folder, copy, { recursive: true })
  const { journal } = await open(copy)
  const { left, torn } = journal
  journal.close()
  return { left: left.map(({ id, data: of }) => [id, Buffer.from(of).toString()]), torn }
}

test('what is not settled is found after a kill, and nothing else', async () => {
  const folder = await newFolder()
  const { journal } = await open(folder)
  const [first, second] = [journal.begin('1', 'ingest.p'), journal.begin('2', 'ingest.p')]
  journal.add(first, [data('one')])
  journal.add(second, [data('t'), data('wo')])
  expect(journal.write()).toBe('written')
  journal.add(first, [data(', more')])
  expect(journal.write()).toBe('written')
  expect(await leftIn(folder)).toEqual({
    left: [
      ['1', 'one, more'],
      ['2', 'two'],
    ],
    torn: 0,
  })
  journal.settle(first)
  const third = journal.begin('3', 'ingest.p')
  journal.add(third, [data('three')])
  journal.write()
  expect((await leftIn(folder)).left).toEqual([
    ['2', 'two'],
    ['3', 'three'],
  ])
  journal.settle(second)
  journal.settle(third)
  journal.close()
  expect(await leftIn(folder)).toEqual({ left: [], torn: 0 })
  expect((await readdir(folder)).filter((name) => name.endsWith('.segment'))).toEqual([])
})

test('files are used again, and messages of an earlier use do not come back', async () => {
  const folder = await newFolder()
  const { journal } = await open(folder, { segment_bytes: 1_000 })
  for (let at = 0; at < 200; at += 1) {
    const entry = journal.begin(String(at), 'ingest.p')
    journal.add(entry, [Buffer.alloc(300, 97)])
    expect(journal.write()).toBe('written')
    journal.settle(entry)
  }
  expect((await readdir(folder)).length).toBeLessThan(8)
  const last = journal.begin('last', 'ingest.p')
  journal.add(last, [data('x')])
  journal.write()
  expect((await leftIn(folder)).left).toEqual([['last', 'x']])
  journal.close()
})

test('the messages of an earlier process stay until they are forgotten', async () => {
  const folder = await newFolder()
  const killed = await open(folder)
  const entry = killed.journal.begin('1', 'ingest.p')
  killed.journal.add(entry, [data('one')])
  killed.journal.write()
  // Closing leaves what is not settled, as a kill does, and unlocks the folder.
  killed.journal.close()
  for (let round = 0; round < 2; round += 1) {
    const { journal } = await open(folder)
    expect(journal.left.map(({ id }) => id)).toEqual(['1'])
    const own = journal.begin(`own-${round}`, 'ingest.p')
    journal.add(own, [data('own')])
    journal.write()
    journal.settle(own)
    if (round === 1) await journal.forgetLeft()
    journal.close()
  }
  const { journal } = await open(folder)
  expect(journal.left).toEqual([])
  journal.close()
})

test('a message that is settled before its write is not written, and holds no file', async () => {
  const folder = await newFolder()
  const { journal } = await open(folder)
  const entry = journal.begin('1', 'ingest.p')
  journal.add(entry, [data('one')])
  journal.settle(entry)
  expect(journal.write()).toBe('written')
  journal.add(entry, [data('more')])
  journal.write()
  expect((await leftIn(folder)).left).toEqual([])
  journal.close()
  expect((await readdir(folder)).filter((name) => name.endsWith('.segment'))).toEqual([])
})

test('two processes never have the same folder', async () => {
  const folder = await newFolder()
  const { journal } = await open(folder)
  await expect(open(folder)).rejects.toThrow(FolderInUse)
  journal.close()
  const again = await open(folder)
  again.journal.close()
})

test('above its bound nothing is written, until messages are settled', async () => {
  const folder = await newFolder()
  const { journal } = await open(folder, { bytes_max: 5_000, segment_bytes: 1_000 })
  const entries = Array.from({ length: 10 }, (_, at) => {
    const entry = journal.begin(String(at), 'ingest.p')
    journal.add(entry, [Buffer.alloc(900, 97)])
    return { entry, outcome: journal.write() }
  })
  const written = entries.filter(({ outcome }) => outcome === 'written')
  expect(written.length).toBeGreaterThan(2)
  expect(entries.slice(written.length).map(({ outcome }) => outcome)).toContain('full')
  for (const { entry } of entries) journal.settle(entry)
  const later = journal.begin('later', 'ingest.p')
  journal.add(later, [Buffer.alloc(900, 98)])
  expect(journal.write()).toBe('written')
  journal.close()
})

test('a message of which a part was not written gets no later part', async () => {
  const folder = await newFolder()
  const { journal } = await open(folder, { bytes_max: 2_000 })
  const entry = journal.begin('1', 'ingest.p')
  journal.add(entry, [data('start ')])
  journal.write()
  journal.add(entry, [Buffer.alloc(5_000, 97)])
  expect(journal.write()).toBe('full')
  journal.add(entry, [data('end')])
  journal.write()
  expect((await leftIn(folder)).left).toEqual([['1', 'start ']])
  journal.close()
})

test('on a full disk nothing is written, and the journal rests before it tries again', async ({
  skip,
}) => {
  const disk = await mountTinyDisk(256)
  if (disk === undefined) return skip(noTinyDisk)
  await using tiny = disk
  let at_ms = 0
  const folder = join(tiny.folder, 'journal')
  const { journal, faults } = await open(folder, { now_ms: () => at_ms })
  const kept = journal.begin('kept', 'ingest.p')
  journal.add(kept, [data('kept')])
  expect(journal.write()).toBe('written')
  const large = journal.begin('large', 'ingest.p')
  journal.add(large, [Buffer.alloc(500_000, 97)])
  expect(journal.write()).toBe('failed')
  expect(faults).toHaveLength(1)
  expect(journal.stats().isWriting).toBe(false)
  const small = journal.begin('small', 'ingest.p')
  journal.add(small, [data('small')])
  expect(journal.write()).toBe('resting')
  expect((await leftIn(folder)).left).toEqual([['kept', 'kept']])
  at_ms = 10_001
  const next = journal.begin('next', 'ingest.p')
  journal.settle(large)
  journal.settle(kept)
  journal.add(next, [data('next')])
  expect(journal.write()).toBe('written')
  expect((await leftIn(folder)).left).toEqual([['next', 'next']])
  journal.close()
})

test('a folder that is not usable is refused', async () => {
  const file = join(await newFolder(), 'file')
  await writeFile(file, '')
  await expect(open(join(file, 'journal'))).rejects.toThrow(FolderUnusable)
})

test('files and folder are readable by their account only', async () => {
  const folder = join(await newFolder(), 'deep', 'journal')
  const { journal } = await open(folder)
  const entry = journal.begin('1', 'ingest.p')
  journal.add(entry, [data('one')])
  journal.write()
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
  const [name = ''] = (await readdir(folder)).filter((one) => one.endsWith('.segment'))
  expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
  journal.close()
})
