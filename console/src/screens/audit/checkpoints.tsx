import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { AuditCheckpoint } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../app/project.ts'
import { Copy } from '../../ui/copy.tsx'
import { List } from '../../ui/list.tsx'
import { Badge, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import ui from '../../ui/ui.module.css'
import type { Chain } from './chain.ts'

/** The signed checkpoints of a chain. */
export function Checkpoints({ chain }: { chain: Chain }) {
  const project_id = useProjectId()
  const checkpoints = usePages(
    ['audit-checkpoints', project_id, chain],
    async (cursor, signal) => {
      const query = { chain, limit: 50, ...(cursor !== undefined && { from_seq: Number(cursor) }) }
      const { data } = await call.GET('/api/v2/audit/checkpoints', { params: { query }, signal })
      if (data === undefined) return {}
      const next_cursor = data.next_seq === null ? null : String(data.next_seq)
      return { data: { checkpoints: data.checkpoints, next_cursor } }
    },
    (each) => each.checkpoints,
  )
  return (
    <div className={ui.stack}>
      <p className={ui.soft}>
        A checkpoint signs all records up to its number. Keep copies outside of the database, with
        the public keys of <code>/api/v2/audit/keys</code>.
      </p>
      <List
        label="Checkpoints"
        pages={checkpoints}
        columns={columns}
        keyOf={({ seq, kind }) => `${seq} ${kind}`}
        empty={
          <Empty title="No checkpoint yet">
            <p>A worker signs one after 1,000 records, or an hour after a new record.</p>
          </Empty>
        }
      />
    </div>
  )
}

const columns: Column<AuditCheckpoint>[] = [
  { id: 'seq', head: 'Up to record', number: true, cell: ({ seq }) => seq },
  { id: 'time', head: 'Signed', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    id: 'kind',
    head: 'Kind',
    cell: ({ kind }) => (kind === 'pruned' ? 'records deleted by retention' : 'end of the chain'),
  },
  {
    id: 'published',
    head: 'Published',
    cell: ({ published_at }) =>
      published_at === null ? <Badge tone="warn">not published</Badge> : <Time at={published_at} />,
  },
  {
    id: 'copy',
    head: 'Envelope',
    cell: ({ envelope }) => (
      <Copy small text={() => JSON.stringify(envelope)}>
        Copy
      </Copy>
    ),
  },
]
