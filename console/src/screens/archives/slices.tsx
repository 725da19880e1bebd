import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { RestoredSlice } from '../../api/schema.gen.d.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { useRefetchWhile } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { Button, State, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'

const path = '/api/v2/observability/restore/slices'

/** The restored slices, with the time at which each expires. */
export function Slices() {
  const project_id = useProjectId()
  const slices = usePages(
    ['slices', project_id],
    (cursor, signal) => call.GET(path, { params: { query: { limit: 100, cursor } }, signal }),
    (each) => each.slices,
  )
  useRefetchWhile(
    slices.rows.some(({ state }) => state === 'restoring'),
    slices.refetch,
  )
  return (
    <List
      label="Slices"
      pages={slices}
      columns={columns}
      keyOf={({ slice_id }) => slice_id}
      empty={
        <Empty title="No slice">
          <p>Open an archive and choose “Restore”.</p>
        </Empty>
      }
    />
  )
}

const columns: Column<RestoredSlice>[] = [
  { id: 'slice', head: 'Slice', cell: ({ slice }) => <Plain>{slice}</Plain> },
  { id: 'state', head: 'State', cell: ({ state }) => <State of={state} /> },
  {
    id: 'window',
    head: 'Window (UTC)',
    wide: true,
    cell: ({ window }) =>
      window === null ? 'all days' : `${window.from.slice(0, 10)} to ${window.to.slice(0, 10)}`,
  },
  { id: 'rows', head: 'Rows', number: true, cell: ({ rows }) => formatCount(rows) },
  { id: 'bytes', head: 'Size', number: true, wide: true, cell: ({ bytes }) => formatBytes(bytes) },
  {
    id: 'expires',
    head: 'Expires',
    number: true,
    cell: ({ expires_at }) => <Time at={expires_at} />,
  },
  { id: 'delete', head: 'Actions', cell: (slice) => <DeleteSlice slice={slice} /> },
]

function DeleteSlice({ slice }: { slice: RestoredSlice }) {
  const [isAsking, setAsking] = useState(false)
  const client = useQueryClient()
  const isAdmin = useHasRole('admin')
  const remove = api.useMutation('delete', `${path}/{slice_id}`, {
    onSuccess: async () => {
      notify('The slice is deleted.')
      await client.invalidateQueries({ queryKey: ['slices'] })
    },
    onError: notifyFault,
    onSettled: () => setAsking(false),
  })
  return (
    <>
      <Button
        small
        look="danger"
        disabled={!isAdmin || slice.state === 'ended'}
        onClick={() => setAsking(true)}
      >
        Delete
      </Button>
      <Confirm
        title="Delete the slice?"
        action="Delete the slice"
        open={isAsking}
        onClose={() => setAsking(false)}
        isRunning={remove.isPending}
        onConfirm={() => remove.mutate({ params: { path: { slice_id: slice.slice_id } } })}
      >
        <p>
          No query sees <Plain>{slice.slice}</Plain> any longer. The archive stays, so it can be
          restored again.
        </p>
      </Confirm>
    </>
  )
}
