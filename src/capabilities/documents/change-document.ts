import { type Problem, problem } from '../../kernel/problem.ts'
import { type ManagedBy, type ResourceName, refuseUnlessOwner } from '../../model/managed-by.ts'
import { assertVersion, type RequestHeaders } from '../../platform/http/index.ts'
import type { DocumentFilter, DocumentKey, NamedRow, NamedTable } from './named-table.ts'
import type { AnyDatabase } from './versioned-table.ts'

/** How documents of a kind are changed. */
export type DocumentRules<Row extends NamedRow, Spec, Db extends AnyDatabase> = {
  table: NamedTable<Row>
  /** Noun of several documents, such as `incident rules`. */
  title: string
  /** Maximum documents of a project. */
  documents_max: number
  /** Whether a resource of a cluster can declare a document. */
  is_owned: boolean
  /** Whether an author may see and change a document; by default all may. */
  isVisible?: (document: Row, author: string) => boolean
  /**
   * Checks a change further and returns the columns that it sets. Returns undefined for a change
   * that changes nothing, which is not written.
   */
  toColumns: (trx: Db, change: ChangeOf<Row, Spec>) => Promise<WrittenColumns<Row> | undefined>
  /** Runs in the transaction of a deletion. */
  beforeDelete?: (trx: Db, document: Row, at: string) => Promise<void>
}

/** A new document, or the next version of one. */
export type DocumentChange<Spec> = DocumentKey & {
  spec: Spec
  managed_by: ManagedBy | null
  at: string
  by: string
}

/** A change with the document before it; undefined for a new one. */
export type ChangeOf<Row, Spec> = DocumentChange<Spec> & { before: Row | undefined }

type WrittenColumns<Row> = {
  columns: Partial<Row>
  /** Chooses the document that has the name, which no two documents may have. */
  unique?: DocumentFilter & { name: string }
  /** Fields that only the reply to the change shows. */
  shown_once?: object | undefined
}

/** A document after a change, and fields that only the reply to the change shows. */
export type WrittenDocument<Row> = {
  document: Row
  is_new: boolean
  shown_once?: object | undefined
}

/**
 * Creates a document, or returns the one that the same resource declares. Throws `name_taken` and
 * `limit_reached`.
 */
export function createDocument<Row extends NamedRow, Spec, Db extends AnyDatabase>(
  db: Db,
  rules: DocumentRules<Row, Spec, Db>,
  change: DocumentChange<Spec>,
): Promise<WrittenDocument<Row>> {
  const { table, documents_max, title } = rules
  const { project_id, id, managed_by, at } = change
  return table.change(db, project_id, async (trx) => {
    const declared = managed_by && (await table.findBy(trx, project_id, { managed_by }))
    if (declared) return { document: declared, is_new: false }
    const written = await toColumns(trx, rules, { ...change, before: undefined })
    if ((await table.count(trx, project_id)) >= documents_max) {
      const detail = `The project has ${documents_max} ${title}, the maximum. Delete some first.`
      throw problem('limit_reached', { detail })
    }
    const columns: Partial<Row> = written?.columns ?? {}
    const document = await table.insert(trx, { ...columns, project_id, id, created_at: at })
    return { document, is_new: true, shown_once: written?.shown_once }
  })
}

/**
 * Replaces a document, in the version of If-Match. Throws `managed_by_kubernetes`,
 * `precondition_failed` and `name_taken`, and the error for an id that no document has.
 */
export function replaceDocument<Row extends NamedRow, Spec, Db extends AnyDatabase>(
  db: Db,
  rules: DocumentRules<Row, Spec, Db>,
  change: DocumentChange<Spec> & { headers: RequestHeaders },
): Promise<WrittenDocument<Row>> {
  const { table } = rules
  const { headers, ...given } = change
  return table.change(db, change.project_id, async (trx) => {
    const before = await lockUnchanged(trx, rules, { ...change, owner: change.managed_by })
    const written = await toColumns(trx, rules, { ...given, before })
    if (written === undefined) return { document: before, is_new: false }
    const document = await table.replace(trx, change, written.columns)
    return { document, is_new: false, shown_once: written.shown_once }
  })
}

/** Who deletes a document. With `retain` only its declaration is removed. */
export type Deletion = DocumentKey & {
  headers: RequestHeaders
  owner: ResourceName | null
  by: string
  at: string
  is_operator: boolean
  retain: boolean
}

/**
 * Deletes a document, in the version of If-Match. Throws `managed_by_kubernetes`,
 * `permission_denied` and `precondition_failed`, and the error for an id that no document has.
 */
export function deleteDocument<Row extends NamedRow, Spec, Db extends AnyDatabase>(
  db: Db,
  rules: DocumentRules<Row, Spec, Db>,
  deletion: Deletion,
): Promise<void> {
  const { table } = rules
  return table.change(db, deletion.project_id, async (trx) => {
    const before = await lockUnchanged(trx, rules, deletion)
    if (deletion.is_operator && before.managed_by == null) {
      const detail = `No resource declares this ${table.noun}, so an operator cannot delete it.`
      throw problem('permission_denied', { detail })
    }
    if (deletion.retain) return table.release(trx, deletion)
    await rules.beforeDelete?.(trx, before, deletion.at)
    return table.delete(trx, deletion)
  })
}

/** Locks a document that the caller may change, in the version of If-Match. */
async function lockUnchanged<Row extends NamedRow, Spec, Db extends AnyDatabase>(
  trx: Db,
  rules: DocumentRules<Row, Spec, Db>,
  { headers, owner, by, ...key }: Pick<Deletion, 'headers' | 'owner' | 'by' | 'project_id' | 'id'>,
): Promise<Row> {
  const document = await rules.table.lock(trx, key)
  if (document === undefined || rules.isVisible?.(document, by) === false) {
    throw rules.table.notFound(key.id)
  }
  refuseUnlessOwner(document.managed_by ?? null, owner)
  assertVersion(headers, document.version)
  return document
}

/** Returns all columns of a change. Throws `name_taken` if another document has the name. */
async function toColumns<Row extends NamedRow, Spec, Db extends AnyDatabase>(
  trx: Db,
  rules: DocumentRules<Row, Spec, Db>,
  change: ChangeOf<Row, Spec>,
): Promise<WrittenColumns<Row> | undefined> {
  const written = await rules.toColumns(trx, change)
  if (written === undefined) return undefined
  const { project_id, id, managed_by, at, by } = change
  const owner = rules.is_owned && { managed_by }
  const columns = { ...written.columns, ...owner, updated_at: at, updated_by: by }
  const { unique } = written
  const other = unique && (await rules.table.findBy(trx, project_id, unique))
  if (other && other.id !== id) {
    throw nameTaken({ noun: rules.table.noun, name: unique.name }, other.managed_by, managed_by)
  }
  return { ...written, columns }
}

/** A namespace learns only the names of its own resources. */
function nameTaken(
  { noun, name }: { noun: string; name: string },
  owner: ManagedBy | null | undefined,
  by: ManagedBy | null,
): Problem {
  const whose =
    owner == null || owner.namespace !== by?.namespace
      ? `another ${noun} of the project`
      : `the ${noun} of ${owner.kind} ${owner.namespace}/${owner.name}`
  return problem('name_taken', {
    detail: `name: got ${JSON.stringify(name.slice(0, 80))}, the name of ${whose}`,
    faults: [{ pointer: '/name', detail: 'already in use' }],
  })
}
