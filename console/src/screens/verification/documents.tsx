import { call } from '../../api/client.ts'
import { usePages } from '../../api/pages.ts'
import type { Document } from '../../api/schema.gen.d.ts'
import { useProjectId } from '../../app/project.ts'
import { useUrlState } from '../../app/use-search.ts'
import { formatBytes, formatCount } from '../../ui/format.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { List } from '../../ui/list.tsx'
import { Time } from '../../ui/parts.tsx'
import { Empty } from '../../ui/states.tsx'
import type { Column } from '../../ui/table.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { AddDocument } from './document-form.tsx'
import { DocumentPage } from './document-page.tsx'
import { DocumentSearch } from './document-search.tsx'
import { documentsPath } from './documents-path.ts'

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
