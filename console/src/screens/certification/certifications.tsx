import { call } from '../../api/client.ts'
import type { ReleaseCertification } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useProjectId } from '../../session/project.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { useRunPages } from '../../ui/job.tsx'
import { List } from '../../ui/list.tsx'
import { Button, Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { path } from './paths.ts'
import { Verdict } from './verdict.tsx'

/** The certifications of the project, newest first. Two of them can be compared. */
export function Certifications() {
  const project_id = useProjectId()
  const [search, change] = useUrlState()
  const query = {
    limit: 50,
    ...(search['release'] && { release_name: search['release'] }),
    ...(search['environment'] && { environment: search['environment'] }),
  }
  const pages = useRunPages(
    ['certifications', project_id, query],
    (cursor, signal) => call.GET(path, { params: { query: { ...query, cursor } }, signal }),
    (each) => each.certifications,
  )
  return (
    <div className={ui.stack}>
      <div className={ui.row}>
        <input
          data-filter
          aria-label="Name of the release"
          placeholder="Name of the release"
          defaultValue={search['release']}
          onBlur={(event) => change({ release: event.target.value || undefined })}
          onKeyDown={(event) => {
            if (event.key === 'Enter') change({ release: event.currentTarget.value || undefined })
          }}
        />
        <input
          aria-label="Environment"
          placeholder="Environment"
          defaultValue={search['environment']}
          onBlur={(event) => change({ environment: event.target.value || undefined })}
          onKeyDown={(event) => {
            if (event.key === 'Enter') {
              change({ environment: event.currentTarget.value || undefined })
            }
          }}
        />
      </div>
      {search['base'] !== undefined && (
        <p className={ui.notice} role="status">
          <span>Choose the certification to compare with.</span>
          <Button small onClick={() => change({ base: undefined })}>
            Do not compare
          </Button>
        </p>
      )}
      <List
        label="Certifications"
        pages={pages}
        columns={columns}
        keyOf={({ certification_id }) => certification_id}
        onOpen={({ certification_id }) => change({ id: certification_id }, { push: true })}
        empty={
          <Empty title="No release is certified">
            <p>Certify one here, or in a pipeline:</p>
            <code>looptrace certify --release support-agent@1.4.0 --environment staging</code>
          </Empty>
        }
      />
    </div>
  )
}

const columns: Column<ReleaseCertification>[] = [
  {
    id: 'release',
    head: 'Release',
    cell: ({ certification_id, release }) => (
      <HereLink change={{ id: certification_id }}>
        <Plain>{`${release.name}@${release.version}`}</Plain>
      </HereLink>
    ),
  },
  {
    id: 'environment',
    head: 'Environment',
    cell: ({ environment }) => (environment === null ? 'none' : <Plain>{environment}</Plain>),
  },
  { id: 'result', head: 'Result', cell: ({ result }) => <Verdict of={result} /> },
  {
    id: 'policy',
    head: 'Policy',
    wide: true,
    cell: ({ policy }) => <Plain>{`${policy.id}, version ${policy.version}`}</Plain>,
  },
  {
    id: 'attempt',
    head: 'Attempt',
    number: true,
    wide: true,
    cell: ({ attempt, max_attempts }) => attempt !== null && `${attempt} of ${max_attempts}`,
  },
  {
    id: 'created',
    head: 'Started',
    number: true,
    cell: ({ created_at }) => <Time at={created_at} ago />,
  },
  {
    id: 'expires',
    head: 'Valid until',
    number: true,
    wide: true,
    cell: ({ expires_at }) => expires_at && <Time at={expires_at} />,
  },
  { id: 'compare', head: 'Compare', cell: (row) => <CompareButton row={row} /> },
]

function CompareButton({ row }: { row: ReleaseCertification }) {
  const [{ base }, change] = useUrlState()
  const { certification_id } = row
  if (base === certification_id) return 'chosen'
  return (
    <Button
      small
      onClick={() =>
        change(base === undefined ? { base: certification_id } : { head: certification_id }, {
          push: base !== undefined,
        })
      }
    >
      {base === undefined ? 'Compare…' : 'With this'}
    </Button>
  )
}
