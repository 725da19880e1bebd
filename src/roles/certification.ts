import {
  BadSigningKey,
  type CertifyDeps,
  certificationChores,
  certificationHandler,
  openCertificationErasure,
  openSigningKey,
} from '../capabilities/certification/index.ts'
import { findNegativeTasks } from '../capabilities/feedback/index.ts'
import type { Chore, JobHandler } from '../capabilities/jobs/index.ts'
import { lostBefore } from '../capabilities/ledger/index.ts'
import type { ErasureTarget } from '../capabilities/storage/index.ts'
import { ConfigError, type Settings } from '../platform/config/index.ts'
import type { Queue } from '../platform/queue/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

type Ports = Pick<Stores, 'db' | 'ledger'> & { queue: Pick<Queue, 'stats'> }

/** Opens the worker's part of certification: runs certifications, and signs their statements. */
export function openCertification(
  { clock }: Pick<RoleContext, 'clock'>,
  config: Settings<'certification' | 'secret'>,
  { db, ledger, queue }: Ports,
): { handlers: JobHandler[]; chores: Chore[]; erasure: ErasureTarget } {
  const handler = certificationHandler({
    db,
    clock,
    signing: openKey({ ...config, db, clock }),
    readLedger: readLedgerFrom({ ledger, queue, clock }),
    readFeedback: (asked) => findNegativeTasks(db, asked),
    tasks_max: config.certification_tasks_max,
  })
  return {
    handlers: [handler],
    chores: certificationChores({ db, clock }),
    erasure: openCertificationErasure({ db }),
  }
}

function openKey(options: Parameters<typeof openSigningKey>[0]) {
  try {
    return openSigningKey(options)
  } catch (error) {
    if (!(error instanceof BadSigningKey)) throw error
    throw new ConfigError(`LOOPTRACE_CERTIFICATION_KEY: ${error.message}`)
  }
}

/** Reads the ledger after the queue, so that a message that has left the queue is settled. */
function readLedgerFrom({
  ledger,
  queue,
  clock,
}: Pick<Ports, 'ledger' | 'queue'> & Pick<RoleContext, 'clock'>): CertifyDeps['readLedger'] {
  return async (project_id, window) => {
    const lost_before_ms = await lostBefore(queue, clock.now_ms())
    const paths = await ledger.sums(project_id, { ...window, lost_before_ms })
    const total = (read: (path: (typeof paths)[number]) => number) =>
      paths.reduce((sum, path) => sum + read(path), 0)
    return {
      accepted: total(({ accepted }) => accepted),
      stored: total(({ stored }) => stored),
      pending: total(({ pending }) => pending),
      lost: total(({ lost }) => Object.values(lost).reduce((sum, items) => sum + items, 0)),
    }
  }
}
