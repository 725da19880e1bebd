import { hash } from 'node:crypto'
import { sql } from '../../../platform/relational/index.ts'
import type { Certification, CertificationDb } from '../evidence/contract.ts'

/** A release of a project: a name with a version, and its image. */
export type ReleaseKey = Pick<
  Certification,
  'project_id' | 'release_name' | 'release_version' | 'image_digest'
>

/**
 * Locks the attempts at the releases of a project until the transaction ends, so that two looks at
 * related releases count one after the other.
 */
export async function lockAttempts(trx: CertificationDb, project_id: string): Promise<void> {
  const lock = `looptrace.certification_attempts ${project_id}`
  await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(trx)
}

/**
 * Counts an attempt at a release and returns its number, from 1. A release is a name with a version,
 * every image that was certified by this name and version, and every name and version of these
 * images. So neither another digest nor none begins a new count.
 */
export async function countAttempt(
  trx: CertificationDb,
  release: ReleaseKey & { subject: string },
): Promise<number> {
  const { project_id, subject } = release
  await trx
    .insertInto('certification_subjects')
    .values({ project_id, subject, attempts: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['project_id', 'subject'])
        .doUpdateSet((eb) => ({ attempts: eb('certification_subjects.attempts', '+', 1) })),
    )
    .execute()
  const subjects = await relatedSubjects(trx, release)
  const { attempts } = await trx
    .selectFrom('certification_subjects')
    .select(({ fn }) => fn.sum<string>('attempts').as('attempts'))
    .where('project_id', '=', project_id)
    .where('subject', 'in', subjects)
    .executeTakeFirstOrThrow()
  return Number(attempts)
}

/** Returns the subjects of a release: its digests, and the SHA-256 of its names with versions. */
export async function relatedSubjects(
  trx: CertificationDb,
  { project_id, release_name, release_version, image_digest }: ReleaseKey,
): Promise<string[]> {
  const { rows } = await sql<{ name: string; version: string; digest: string | null }>`
    with recursive related (name, version, digest) as (
      select ${release_name}::text, ${release_version}::text, ${image_digest}::text
      union
      select other.release_name, other.release_version, other.image_digest
      from related join certifications as other on other.project_id = ${project_id}
        and ((other.release_name, other.release_version) = (related.name, related.version)
          or other.image_digest = related.digest)
    )
    select name, version, digest from related`.execute(trx)
  const subjects = rows.flatMap(({ name, version, digest }) => [
    hash('sha256', `${name}@${version}`),
    ...(digest === null ? [] : [digest]),
  ])
  return [...new Set(subjects)]
}
