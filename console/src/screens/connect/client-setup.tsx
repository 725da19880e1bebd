import { keepPreviousData } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { api } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { OnboardingClient } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { useHasRole, useProjectId } from '../../session/project.ts'
import { Copy } from '../../ui/copy.tsx'
import { faultAt, TextField } from '../../ui/fields.tsx'
import { HereLink } from '../../ui/here-link.tsx'
import { Button, Facts } from '../../ui/parts.tsx'
import { ShownOnce } from '../../ui/shown-once.tsx'
import { Fault, Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { fillKey, filterClients } from './arrival.ts'
import css from './connect.module.css'
import { Light } from './light.tsx'

type KeyState = { createdKey: string | undefined; onCreated: (key: string) => void }

/** The lines for each client, with the key in them, and the light of its first call. */
export function ClientSetup(key: KeyState) {
  const [search, change] = useUrlState()
  const url = search['url'] ?? window.location.origin
  const clients = api.useQuery(
    'get',
    '/api/v1/onboarding/clients',
    { params: { query: { url } } },
    { staleTime: 600_000, placeholderData: keepPreviousData },
  )
  return (
    <div className={ui.stack}>
      <AddressField key={url} url={url} onChange={(to) => change({ url: to })} />
      <Loaded query={clients} what="Reading the clients">
        {({ clients: known }) => {
          const chosen = known.find(({ name }) => name === search['client']) ?? known[0]
          return (
            <div className={css.columns}>
              <ClientList clients={known} chosen={chosen?.name} />
              {chosen !== undefined && <Lines client={chosen} {...key} />}
            </div>
          )
        }}
      </Loaded>
    </div>
  )
}

/** The address at which clients reach Looptrace, which may differ from that of this page. */
function AddressField({ url, onChange }: { url: string; onChange: (url?: string) => void }) {
  const [text, setText] = useState(url)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onChange(text.trim() === window.location.origin ? undefined : text.trim())
      }}
    >
      <TextField
        label="Address of Looptrace for your clients"
        type="url"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={(event) => event.target.form?.requestSubmit()}
        hint="Change it if your programs reach Looptrace by another address than this page."
      />
    </form>
  )
}

function Lines({ client, createdKey, onCreated }: { client: OnboardingClient } & KeyState) {
  const { title, calls, place, base_url, key_in, lines, lines_with_key, advice } = client
  const base = base_url?.replace('<key>', () => createdKey ?? 'lt_…')
  const text = createdKey === undefined ? lines.join('\n') : fillKey(lines_with_key, createdKey)
  return (
    <div className={ui.stack}>
      <h2>{title}</h2>
      <Facts
        of={[
          ['Its default call', calls],
          ['Base URL', base === undefined ? null : <code key="url">{base}</code>],
          ['Project key', key_in.startsWith('the ') ? `in ${key_in}` : `header ${key_in}`],
        ]}
      />
      <ProjectKey createdKey={createdKey} onCreated={onCreated} />
      <section className={ui.stack} aria-label="Lines to paste">
        <div className={ui.row}>
          <h3 className={ui.grow}>Put this into {place.replaceAll('`', '')}</h3>
          <Copy text={() => text}>Copy the lines</Copy>
        </div>
        <pre className={css.code}>{text.trim()}</pre>
      </section>
      <Light advice={advice} />
    </div>
  )
}

/** The clients that `looptrace connect` knows, with a search. */
function ClientList({
  clients,
  chosen,
}: {
  clients: readonly OnboardingClient[]
  chosen: string | undefined
}) {
  const id = useId()
  const [text, setText] = useState('')
  const found = filterClients(clients, text)
  return (
    <div className={css.clients}>
      <label htmlFor={id}>
        <strong>Client</strong>
      </label>
      <input
        id={id}
        type="search"
        data-filter
        placeholder="Search: openai node"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {found.length === 0 ? (
        <p className={ui.soft}>
          No client has this name. A client that can set a base URL works too: choose “a client that
          can only set a base URL”.
        </p>
      ) : (
        <ul className={css.list} aria-label="Clients">
          {found.map(({ name, title, calls }) => (
            <li key={name}>
              <HereLink
                change={{ client: name }}
                className={css.client}
                aria-current={name === chosen}
              >
                {title}
                <span className={css.calls}>{calls}</span>
              </HereLink>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Creates a project key for the lines, and shows it once. */
function ProjectKey({
  createdKey,
  onCreated,
}: {
  createdKey: string | undefined
  onCreated: (key: string) => void
}) {
  const project_id = useProjectId()
  const isAdmin = useHasRole('admin')
  const [name, setName] = useState('first client')
  const create = api.useMutation('post', '/api/v2/access/projects/{project_id}/api-keys', {
    onSuccess: ({ key }) => key !== null && onCreated(key),
  })
  if (createdKey !== undefined) {
    return <ShownOnce title="Your project key. It is in the lines below." secret={createdKey} />
  }
  if (!isAdmin) {
    return (
      <p className={ui.notice}>
        The lines read the project key from LOOPTRACE_API_KEY. Only an administrator of the project
        can create a key: ask one for it.
      </p>
    )
  }
  return (
    <form
      className={ui.notice}
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate({ params: { path: { project_id } }, body: { name } })
      }}
    >
      <TextField
        label="Name of the new project key"
        value={name}
        required
        maxLength={200}
        onChange={(event) => setName(event.target.value)}
        fault={faultAt(faultsOf(create.error), '/name')}
        hint="Without a key here, the lines read it from LOOPTRACE_API_KEY."
      />
      <Button type="submit" look="primary" disabled={create.isPending}>
        {create.isPending ? 'Creating…' : 'Create a key for these lines'}
      </Button>
      {create.error !== null && <Fault error={create.error} />}
    </form>
  )
}
