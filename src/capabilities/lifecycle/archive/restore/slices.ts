import { z } from 'zod'
import { isUuid } from '../../../../kernel/ids.ts'
import { problem } from '../../../../kernel/problem.ts'
import { idPage, idPageAfter, idPageQuery, pageFields } from '../../../../model/id-pages.ts'
import { record, windowSchema } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import type { ArchiveDeps } from '../contract.ts'
import { kindNames } from '../kinds.ts'
import type { Slice } from '../store.ts'
import { countSlices, hideSlice, selectSlices } from './store.ts'

const count = z.int().nonnegative()

const sliceSchema = record('RestoredSlice', {
  slice_id: z.uuid(),
  slice: z.string().describe('Name of the slice.'),
  state: z
    .enum(['restoring', 'ready', 'ended'])
    .describe('Queries see `ready` slices; `ended` slices have no rows.'),
  archive_run_id: z.uuid(),
  restore_run_id: z.uuid(),
  kinds: z.array(z.enum(kindNames)),
  window: windowSchema.nullable(),
  rows: count,
  bytes: count.describe('Size of the archived files.'),
  erased_rows: count,
  created_by: z.string(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
})

/** GET /api/v2/observability/restore/slices: slices that are restoring or ready, newest first. */
export function listSlices({ db, clock }: ArchiveDeps): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v2/observability/restore/slices',
    id: 'listRestoredSlices',
    summary: 'Restored slices, newest first',
    auth: 'jwt',
    scope: { level: 'project', role: 'viewer', key: null },
    query: z.strictObject(idPageQuery),
    reply: record('RestoredSliceList', {
      slices: z.array(sliceSchema),
      ...pageFields,
    }),
    errors: ['invalid_cursor', 'store_unavailable'],
    handle: async ({ query: { limit, cursor }, caller: { project_id } }) => {
      const bounds = idPageAfter(list, { limit, cursor })
      const [rows, counted] = await Promise.all([
        selectSlices(db, { project_id, ...bounds }),
        countSlices(db, { project_id }),
      ])
      const page = idPage({ rows, counted }, { list, limit, idOf: ({ id }) => id })
      const now_ms = clock.now_ms()
      return {
        slices: page.items.map((slice) => toRestoredSlice(slice, now_ms)),
        ...page.info,
      }
    },
  })
}

/**
 * DELETE /api/v2/observability/restore/slices/{slice_id}: hides a slice from all queries. Its rows
 * are deleted at once, or after an outage of the store.
 */
export function deleteSlice({ db, restored }: ArchiveDeps): Route {
  return defineRoute({
    method: 'DELETE',
    url: '/api/v2/observability/restore/slices/{slice_id}',
    id: 'deleteRestoredSlice',
    summary: 'Delete a restored slice',
    status: 204,
    auth: 'jwt',
    scope: { level: 'project', role: 'admin', key: null },
    params: z.strictObject({ slice_id: z.string().describe('The `slice_id` of the list.') }),
    reply: z.undefined(),
    errors: ['slice_not_found', 'store_unavailable'],
    handle: async ({ params: { slice_id }, caller: { project_id } }) => {
      const hidden = isUuid(slice_id) ? await hideSlice(db, { slice_id, project_id }) : undefined
      if (hidden === undefined) {
        throw problem('slice_not_found', {
          detail: `slice_id: got "${slice_id.slice(0, 80)}", which is not a slice of this project`,
        })
      }
      // A worker repeats it in any case, because a restore run may still insert into the slice.
      await restored.dropSlice(slice_id).catch(() => undefined)
      return undefined
    },
  })
}

const list = 'slices'

function toRestoredSlice(slice: Slice, now_ms: number): z.input<typeof sliceSchema> {
  const {
    id: slice_id,
    name,
    archive_run_id,
    job_id: restore_run_id,
    window_from,
    window_to,
  } = slice
  const { kinds, row_count: rows, bytes, erased_rows, created_by, created_at, expires_at } = slice
  const isOver = slice.state === 'ending' || Date.parse(expires_at) <= now_ms
  return {
    slice_id,
    slice: name,
    archive_run_id,
    restore_run_id,
    rows,
    bytes,
    erased_rows,
    created_by,
    created_at,
    expires_at,
    state: isOver || slice.state === 'ending' ? 'ended' : slice.state,
    kinds: z.array(z.enum(kindNames)).parse(kinds),
    window: window_from && window_to ? { from: window_from, to: window_to } : null,
  }
}
