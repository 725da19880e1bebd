import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Job, JobHandler, JobValue } from '../../src/capabilities/jobs/index.ts'
import {
  archiveHandler,
  defaultArchiveSettings,
  openArchiveStore,
  openRestoredStore,
  restoreHandler,
} from '../../src/capabilities/lifecycle/archive/index.ts'
import { insertSlice } from '../../src/capabilities/lifecycle/archive/restore/store.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { openBlobs } from '../../src/platform/blobs/index.ts'
import { blobsOptions } from '../../test/support/blobs.ts'
import type { BenchEngine } from './engine.ts'
import { projectOf, span } from './generated-rows.ts'
import type { BenchServices } from './services.ts'

/** Archives a day of the largest project to files in a folder, and restores it: each twice. */
export type ArchiveFacts = {
  rows: number
  bytes: number
  rounds: { archive_ms: number; restore_ms: number }[]
}

const rounds = 2
const day_ms = 86_400_000
/** A day other than the two that the retention part deletes. */
const day = 10

/**
 * Uses the handlers of the jobs, with the worker's settings, without the wait before an archive.
 */
export async function measureArchives(
  engine: BenchEngine,
  services: BenchServices,
): Promise<ArchiveFacts> {
  const bench = openBench(engine, services)
  const facts: ArchiveFacts = { rows: 0, bytes: 0, rounds: [] }
  for (let round = 0; round < rounds; round += 1) {
    const from_ms = span.from_ms + day * day_ms
    const archive = jobOf('archive', {
      from: new Date(from_ms).toISOString(),
      to: new Date(from_ms + day_ms).toISOString(),
      kinds: ['observations'],
    })
    const archived = await runJob(bench.archive, archive)
    const restored = await bench.restoreOf(archive, archived.result)
    facts.rows = Number(archived.result['rows'])
    facts.bytes = Number(archived.result['bytes'])
    if (restored.result['rows'] !== facts.rows || facts.rows === 0) {
      throw new Error(`got ${restored.result['rows']} rows back, expected ${facts.rows}`)
    }
    facts.rounds.push({ archive_ms: archived.took_ms, restore_ms: restored.took_ms })
  }
  return facts
}

function openBench({ columnar }: BenchEngine, { relational: { db }, directory }: BenchServices) {
  const url = String(pathToFileURL(join(directory, 'blobs')))
  const settings = { ...defaultArchiveSettings, settle_ms: 0 }
  const about = { db, blobs: openBlobs(blobsOptions(url)), clock: systemClock, settings }
  const restored = openRestoredStore({ columnar })
  const erasedUsers = async () => ({
    version: 0,
    isCurrent: async () => true,
    isErased: () => false,
    erasedTraces: async () => [],
  })
  const restore = restoreHandler({ ...about, restored, erasedUsers })
  return {
    archive: archiveHandler({ ...about, store: openArchiveStore({ columnar }) }),
    /** Into a separate slice, which is then deleted. */
    restoreOf: async (archive: Job, { manifest, manifest_sha256 }: JobValue) => {
      const slice_id = newId()
      const asked = { archive_run_id: archive.id, slice_id, manifest, manifest_sha256 }
      const job = jobOf('restore', asked)
      const created_at = new Date()
      await insertSlice(db, {
        id: slice_id,
        project_id: job.project_id,
        name: slice_id,
        archive_run_id: archive.id,
        job_id: job.id,
        kinds: [],
        window_from: null,
        window_to: null,
        created_by: job.requested_by,
        created_at,
        expires_at: new Date(created_at.getTime() + day_ms),
      })
      const ran = await runJob(restore, job)
      await restored.dropSlice(slice_id)
      return ran
    },
  }
}

async function runJob({ run }: JobHandler, job: Job) {
  const { signal } = new AbortController()
  const start_ms = performance.now()
  const result = await run(job, { progress: () => Promise.resolve(), signal })
  return { result, took_ms: performance.now() - start_ms }
}

/** A job as a worker gets it at its start. */
function jobOf(kind: string, params: JobValue): Job {
  const now = new Date().toISOString()
  return {
    id: newId(),
    project_id: projectOf(0),
    kind,
    params,
    requested_by: 'schedule',
    state: 'running',
    progress: null,
    result: null,
    error: null,
    attempt: 1,
    exclusive_key: null,
    once_key: null,
    lease_owner: null,
    lease_until: null,
    due_at: now,
    created_at: now,
    started_at: now,
    ended_at: null,
  }
}
