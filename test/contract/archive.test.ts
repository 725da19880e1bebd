import { createHash, createHmac } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Job } from '../../src/capabilities/jobs/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Blobs } from '../../src/platform/blobs/index.ts'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { type ArchiveDesk, daysFrom, openArchiveDesk, writeRecords } from '../support/archives.ts'
import { directoryDriver, s3Driver } from '../support/blobs.ts'
import { migratedClickHouse, testClickHouse } from '../support/clickhouse.ts'
import { eventually } from '../support/eventually.ts'
import { soakOnly } from '../support/suite/budget.ts'

const kinds = ['observations', 'traces', 'events', 'links', 'correlations']
const identities: Record<string, string> = {
  observations: 'start_time, trace_id, observation_id',
  traces: 'trace_id',
  events: 'trace_id, time, observation_id, event_id',
  links: 'trace_id, time, observation_id, link_id',
  correlations: 'correlation_type, correlation_value, trace_id, observation_id',
}

const flipped = (bytes: Buffer) => {
  bytes.writeUInt8((bytes[999] ?? 0) ^ 1, 999)
  return bytes
}

describe.each([directoryDriver(), s3Driver()])('$name', (driver) => {
  let blobs: Blobs
  let columnar: ColumnarServer
  let desk: ArchiveDesk
  const project_id = newId()
  let archive: Job

  beforeAll(async () => {
    await driver.start()
    blobs = driver.open()
    // Its mutations would rewrite the parts of other files.
    columnar = await migratedClickHouse(await testClickHouse('own'))
    desk = await openArchiveDesk(blobs, { file_rows_max: 25, columnar })
    await writeRecords(desk.columnar, { project_id, days: 2, each: 50 })
    await writeRecords(desk.columnar, { project_id: newId(), days: 2, each: 10 })
    archive = await desk.archive(project_id)
  })
  afterAll(async () => {
    await desk?.close()
    await columnar?.close()
    await driver.stop()
  })

  const manifestOf = async (job: Job) =>
    JSON.parse(String(await buffer(await blobs.get(String(job.result?.['manifest'])))))
  /** Rows of the kind's own table, without versions, that the slice lacks, and vice versa. */
  const differences = async (kind: string, slice_id: string, where = '1 = 1') => {
    const columns = await desk.columnar.query<{ name: string }>(
      'SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}',
      { table: kind },
    )
    const list = columns.map(({ name }) => name).join(', ')
    const live = `SELECT ${list} FROM ${kind} WHERE project_id = {project:UUID} AND ${where}
      ORDER BY ingested_at DESC, message_id DESC LIMIT 1 BY ${identities[kind]}`
    const back = `SELECT ${list} FROM restored_${kind} WHERE slice_id = {slice:UUID}`
    const params = { project: project_id, slice: slice_id }
    const count = async (sql: string) =>
      Number(
        (await desk.columnar.query<{ n: string }>(`SELECT count() AS n FROM (${sql})`, params))[0]
          ?.n,
      )
    return {
      live: await count(live),
      back: await count(back),
      missing: await count(`(${live}) EXCEPT (${back})`),
      added: await count(`(${back}) EXCEPT (${live})`),
    }
  }
  const rowsOf = async (slice_id: string) => {
    const each = kinds.map((kind) => `SELECT slice_id FROM restored_${kind}`).join(' UNION ALL ')
    const sql = `SELECT count() AS n FROM (${each}) WHERE slice_id = {slice:UUID}`
    return Number((await desk.columnar.query<{ n: string }>(sql, { slice: slice_id }))[0]?.n)
  }
  /** The same including rows that are only marked as deleted: the rows on disk. */
  const storedRowsOf = async (slice_id: string) => {
    let rows = 0
    for (const kind of kinds) {
      const sql = `SELECT count() AS n FROM restored_${kind} WHERE slice_id = {slice:UUID}`
      const settings = { apply_deleted_mask: 0 }
      const [row] = await desk.columnar.query<{ n: string }>(sql, { slice: slice_id }, { settings })
      rows += Number(row?.n)
    }
    return rows
  }
  /** The archive with other bytes in place of a blob; the blob is restored afterwards. */
  const withBlob = async (
    name: string,
    change: (bytes: Buffer) => Buffer,
    then: () => Promise<void>,
  ) => {
    const bytes = await buffer(await blobs.get(name))
    await blobs.put(name, [change(Buffer.from(bytes))])
    await then().finally(() => blobs.put(name, [bytes]))
  }
  /**
   * The same archive with another manifest, as an earlier or later version would have written it.
   */
  const withManifest = async (
    change: (manifest: Awaited<ReturnType<typeof manifestOf>>) => void,
  ) => {
    const manifest = await manifestOf(archive)
    change(manifest)
    const bytes = Buffer.from(JSON.stringify(manifest))
    const name = `archives/${project_id}/${newId()}.json`
    await blobs.put(name, [bytes])
    const manifest_sha256 = createHash('sha256').update(bytes).digest('hex')
    return desk.restore({ ...archive, result: { manifest: name, manifest_sha256 } })
  }

  test('a run has each record once, in bounded files that the manifest lists', async () => {
    expect(archive).toMatchObject({ state: 'succeeded', result: { verified: true, rows: 500 } })
    const manifest = await manifestOf(archive)
    expect(manifest).toMatchObject({ project_id, run_id: archive.id, rows: 500, version: 1 })
    expect(manifest.files).toHaveLength(5 * 2 * 2)
    for (const file of manifest.files) {
      const bytes = await buffer(await blobs.get(file.name))
      expect(bytes.length).toBe(file.bytes)
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(file.sha256)
      expect(file.rows).toBeLessThanOrEqual(25)
      expect(BigInt(file.min_time) <= BigInt(file.max_time)).toBe(true)
    }
    const names = []
    for await (const { name } of blobs.list(`archives/${project_id}/${archive.id}/`))
      names.push(name)
    expect(names).toHaveLength(manifest.files.length + 1)
  })

  test('restored rows equal the archived ones, in every column', async () => {
    const { job, slice_id } = await desk.restore(archive)
    expect(job).toMatchObject({ state: 'succeeded', result: { rows: 500, erased_rows: 0 } })
    expect(await desk.slice(slice_id)).toMatchObject({ state: 'ready', row_count: 500 })
    for (const kind of kinds) {
      expect(await differences(kind, slice_id)).toEqual({
        live: 100,
        back: 100,
        missing: 0,
        added: 0,
      })
    }
  })

  if (driver.name === 's3') {
    describe(
      'and further',
      soakOnly('Needs of S3 only what the tests above show, and is shown with a directory.'),
      testFurther,
    )
  } else testFurther()

  function testFurther() {
    test('of a window whole days are restored, of kinds the named ones', async () => {
      const from = '2026-09-22T12:00:00Z'
      const to = '2026-09-22T12:00:01Z'
      const { slice_id } = await desk.restore(archive, {
        from,
        to,
        kinds: ['observations', 'links'],
      })
      const ofDay = (time: string) => `toDate(${time}) = '2026-09-22'`
      const whole = { live: 50, back: 50, missing: 0, added: 0 }
      expect(await differences('observations', slice_id, ofDay('start_time'))).toEqual(whole)
      expect(await differences('links', slice_id, ofDay('time'))).toEqual(whole)
      expect(await rowsOf(slice_id)).toBe(100)
    })

    test.each([
      ['one bit that is another', flipped],
      ['a missing end', (bytes: Buffer) => bytes.subarray(0, bytes.length - 100)],
      ['nothing in it', () => Buffer.alloc(0)],
    ])('a file with %s is refused with its name, and the slice is empty', async (_, change) => {
      const { name } = (await manifestOf(archive)).files[7]
      await withBlob(name, change, async () => {
        const { job, slice_id } = await desk.restore(archive)
        expect(job).toMatchObject({ state: 'failed', attempt: 1 })
        expect(job.error).toContain(name)
        expect(await desk.slice(slice_id)).toMatchObject({ state: expect.stringMatching(/^end/) })
        expect(await rowsOf(slice_id)).toBe(0)
      })
    })

    test('a missing file, and a different manifest, are refused with their names', async () => {
      const { name } = (await manifestOf(archive)).files[0]
      const bytes = await buffer(await blobs.get(name))
      await blobs.delete(name)
      const missingBlob = await desk.restore(archive)
      expect(missingBlob.job).toMatchObject({ state: 'failed' })
      expect(missingBlob.job.error).toContain(name)
      await blobs.put(name, [bytes])
      const manifest = String(archive.result?.['manifest'])
      const other = (text: Buffer) => Buffer.from(String(text).replace('"rows":500', '"rows":501'))
      await withBlob(manifest, other, async () => {
        const { job } = await desk.restore(archive)
        expect(job).toMatchObject({ state: 'failed' })
        expect(job.error).toContain(manifest)
      })
    })

    test('rows that do not match the manifest are refused, although the bytes match', async () => {
      const { job, slice_id } = await withManifest(({ files }) => {
        files[3].row_checksum = '1'
      })
      expect(job).toMatchObject({ state: 'failed' })
      expect(job.error).toContain((await manifestOf(archive)).files[3].name)
      expect(await rowsOf(slice_id)).toBe(0)
    })

    test('files of a failed run are deleted, those of others stay', async () => {
      const noted = () =>
        desk.db
          .selectFrom('archive_files')
          .select('name')
          .where('job_id', '=', failing.id)
          .execute()
      const failing = await desk.archive(project_id, { ...daysFrom(1), kinds: ['links'] })
      await eventually('its notes are gone', async () => (await noted()).length === 0)
      const prefix = `archives/${project_id}/${failing.id}/`
      const there = async () => {
        const names: string[] = []
        for await (const { name } of blobs.list(prefix)) names.push(name)
        return names
      }
      expect(await there()).toHaveLength(3)
      const [first] = (await manifestOf(failing)).files
      await desk.db
        .updateTable('job_runs')
        .set({ state: 'failed' })
        .where('id', '=', failing.id)
        .execute()
      await desk.db
        .insertInto('archive_files')
        .values({
          ...{ job_id: failing.id, ordinal: 0, name: first.name, kind: 'links', day: 1, part: 1 },
          ...{ row_count: 1, bytes: 1, sha256: first.sha256, row_checksum: '1' },
          ...{ min_time_ns: '1', max_time_ns: '1', position: '[]' },
        })
        .execute()
      await eventually('its files are gone', async () => (await there()).length === 0)
      expect((await manifestOf(archive)).files).toHaveLength(20)
    })

    test('a project without rows has an archive without files, which can be restored', async () => {
      const empty = await desk.archive(newId(), daysFrom(2))
      expect(empty).toMatchObject({
        state: 'succeeded',
        result: { verified: true, files: 0, rows: 0 },
      })
      const { job } = await desk.restore(empty)
      expect(job).toMatchObject({ state: 'succeeded', result: { rows: 0 } })
    })

    // The rest depends on ClickHouse, not on where files are.
    if (driver.name === 's3') return

    test('newer columns get their defaults; all others are compared', async () => {
      desk.columnsToCome.add('metadata').add('cost_usd')
      const older = await desk.archive(project_id)
      desk.columnsToCome.clear()
      const { job, slice_id } = await desk.restore(older)
      expect(job).toMatchObject({ state: 'succeeded', result: { rows: 500 } })
      const sql = `SELECT count() AS rows, countIf(length(metadata) = 0) AS bare,
      countIf(cost_usd IS NULL) AS unpriced, countIf(length(attributes) = 2) AS told
      FROM restored_observations WHERE slice_id = {slice:UUID}`
      const [found] = await desk.columnar.query(sql, { slice: slice_id })
      expect(found).toEqual({ rows: '100', bare: '100', unpriced: '100', told: '100' })
    })

    test('a column that is unknown, or has another type, is refused with its name', async () => {
      const unknown = await withManifest(({ kinds: [first] }) => {
        first.columns.push({ name: 'mood', type: 'String' })
      })
      expect(unknown.job).toMatchObject({ state: 'failed' })
      expect(unknown.job.error).toContain('mood')
      const other = await withManifest(({ kinds: [first] }) => {
        first.columns.find((column: { name: string }) => column.name === 'status_code').type =
          'String'
      })
      expect(other.job.error).toContain('status_code')
      const later = await withManifest((manifest) => {
        manifest.version = 2
      })
      expect(later.job.error).toContain('version 2')
      const foreign = await withManifest((manifest) => {
        manifest.project_id = newId()
      })
      expect(foreign.job.error).toContain('another project')
    })

    test('rows of erased users are skipped, and those of their traces', async () => {
      const key = Buffer.alloc(32, 7)
      await desk.db.insertInto('erasure_keys').values({ project_id, key }).execute()
      const user_id_digest = createHmac('sha256', key).update('user-3').digest()
      await desk.db
        .insertInto('erasures')
        .values({
          ...{
            id: newId(),
            project_id,
            user_id: null,
            user_id_digest,
            reason: 'asked',
            purge: false,
          },
          ...{ requested_by: 'user:x', created_at: new Date() },
        })
        .execute()
      const { job, slice_id } = await desk.restore(archive)
      expect(job).toMatchObject({ state: 'succeeded', result: { rows: 500, erased_rows: 100 } })
      expect(await desk.slice(slice_id)).toMatchObject({ row_count: 400, erased_rows: 100 })
      const observations = await differences('observations', slice_id, "user_id != 'user-3'")
      expect(observations).toEqual({ live: 80, back: 80, missing: 0, added: 0 })
      expect(await rowsOf(slice_id)).toBe(400)
      // They were never on disk.
      expect(await storedRowsOf(slice_id)).toBe(400)
    })

    test('a user who is erased later is removed from slices too, and from no other project', async () => {
      const { slice_id } = await desk.restore(archive, { kinds: ['observations', 'events'] })
      const before = await rowsOf(slice_id)
      const { erasure } = desk.restored
      const asked = { project_id, user_id: 'user-1', after: '' }
      const trace_ids = await erasure.tracesOfUser(asked)
      expect(await erasure.tracesOfUser({ ...asked, project_id: newId() })).toEqual([])
      const about = { project_id, user_id: 'user-1', trace_ids, held_trace_ids: [] }
      await erasure.eraseUser({ ...about, project_id: newId() })
      expect(await rowsOf(slice_id)).toBe(before)
      await erasure.eraseUser(about)
      expect(await rowsOf(slice_id)).toBe(before - 40)
      expect(await storedRowsOf(slice_id)).toBe(before)
      expect(await erasure.purgeUser(about)).toBe(true)
      expect(await storedRowsOf(slice_id)).toBe(before - 40)
      expect(await erasure.purgeUser(about)).toBe(false)
    })

    test('the tables of slices have the columns of their kinds', async () => {
      for (const kind of kinds) {
        const sql = `SELECT name, type FROM system.columns
        WHERE database = currentDatabase() AND table = {table:String} ORDER BY name`
        const live = await desk.columnar.query(sql, { table: kind })
        const back = await desk.columnar.query(sql, { table: `restored_${kind}` })
        const slice = { name: 'slice_id', type: 'UUID' }
        expect(back).toEqual(expect.arrayContaining([...live, slice]))
        expect(back).toHaveLength(live.length + 1)
      }
    })
  }
})
