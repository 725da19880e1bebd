import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call } from '../../api/client.ts'
import { useProjectId } from '../../app/project.ts'
import { useUrlState } from '../../app/use-search.ts'
import { HereLink } from '../../ui/here-link.tsx'
import { Button } from '../../ui/parts.tsx'
import { Loaded } from '../../ui/states.tsx'
import { LongText, Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { documentsPath } from './documents-path.ts'
import css from './verification.module.css'

const results_max = 10

/** Searches the documents as verification does. */
export function DocumentSearch() {
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
