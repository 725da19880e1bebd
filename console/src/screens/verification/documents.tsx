import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { Document } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../app/project.ts'
import { useUrlState } from '../../app/use-search.ts'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { List } from '../../ui/list.tsx'
import { Button, Time } from '../../ui/parts.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { AddDocument } from './document-form.tsx'
import { DocumentPage } from './document-page.tsx'
import { documentsPath } from './documents-path.ts'
import css from './verification.module.css'

/** The documents of the project that verification searches. */
export function Documents() {
  const [{ document }] = useUrlState()
  return document === undefined ? <DocumentList /> : <DocumentPage document_id={document} />
}

function DocumentList() {
  const project_id = useProjectId()
  const [, change] = useUrlState()
  const documents = usePages(
    ['documents', project_id],
    (cursor, signal) =>
      call.GET(documentsPath, { params: { query: { limit: 50, cursor } }, signal }),
    (each) => each.documents,
  )
  return (
    <div className={ui.stack}>
      <div className={ui.row}>
        <AddDocument />
      </div>
      <DocumentSearch />
      <List
        label="Documents"
        pages={documents}
        columns={columns}
        keyOf={({ document_id }) => document_id}
        onOpen={({ document_id }) => change({ document: document_id }, { push: true })}
        empty={
          <Empty title="No documents">
            <p>Add terms, price lists or manuals: claims of answers are compared with them.</p>
          </Empty>
        }
      />
    </div>
  )
}

const columns: Column<Document>[] = [
  {
    id: 'name',
    head: 'Name',
    cell: ({ document_id, name }) => (
      <HereLink change={{ document: document_id }}>
        <Plain>{name}</Plain>
      </HereLink>
    ),
  },
  { id: 'title', head: 'Title', cell: ({ title }) => <Plain>{title}</Plain> },
  { id: 'format', head: 'Format', wide: true, cell: ({ format }) => format },
  { id: 'version', head: 'Version', number: true, cell: ({ version }) => version },
  { id: 'chunks', head: 'Passages', number: true, cell: ({ chunks }) => formatCount(chunks) },
  { id: 'bytes', head: 'Size', number: true, wide: true, cell: ({ bytes }) => formatBytes(bytes) },
  {
    id: 'updated',
    head: 'Changed',
    number: true,
    wide: true,
    cell: ({ updated_at }) => <Time at={updated_at} ago />,
  },
]

const results_max = 10

/** Searches the documents as verification does. */
function DocumentSearch() {
  const [search, change] = useUrlState()
  const [text, setText] = useState(search['find'] ?? '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change({ find: text.trim() || undefined })
  }
  return (
    <>
      <search>
        <form className={ui.row} onSubmit={submit}>
          <input
            data-filter
            aria-label="Search in documents"
            placeholder="Can an express parcel be refunded?"
            className={ui.grow}
            style={{ maxWidth: 420 }}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit">Search</Button>
        </form>
      </search>
      {search['find'] !== undefined && <Results query={search['find']} />}
    </>
  )
}

function Results({ query }: { query: string }) {
  const project_id = useProjectId()
  const found = useQuery({
    queryKey: ['document-search', project_id, query],
    queryFn: async ({ signal }) => {
      const body = { query, limit: results_max }
      const { data } = await call.POST(`${documentsPath}/search`, { body, signal })
      return data?.results ?? []
    },
  })
  return (
    <Loaded query={found} what="Searching">
      {(results) => (
        <section className={ui.box} aria-label="Passages">
          {results.length === 0 && <p>No passage shares a telling word with this.</p>}
          {results.map(({ document_id, name, version, quote, score, at }) => (
            <div key={`${document_id} ${at.join(' ')}`}>
              <p>
                <HereLink change={{ document: document_id, find: undefined }}>
                  <Plain>{name}</Plain>
                </HereLink>{' '}
                <span className={ui.soft}>
                  version {version}, score {score.toFixed(2)}
                </span>
              </p>
              <blockquote className={css.quote}>
                <LongText text={quote} />
              </blockquote>
            </div>
          ))}
        </section>
      )}
    </Loaded>
  )
}
