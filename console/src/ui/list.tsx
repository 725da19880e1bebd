import type { ComponentProps } from 'react'
import type { Pages } from '../api/pages.ts'
import { Loaded } from './states.tsx'
import { MoreRows, Table } from './table.tsx'

type ListProps<T> = Omit<ComponentProps<typeof Table<T>>, 'rows'> & { pages: Pages<T> }

/** A table of a list that is read page by page, with its loading, empty and error states. */
export function List<T>({ pages, ...table }: ListProps<T>) {
  return (
    <Loaded query={pages} what={`Reading ${table.label.toLowerCase()}`}>
      {() => (
        <>
          <Table {...table} rows={pages.rows} />
          <MoreRows
            hasMore={pages.hasMore}
            isLoading={pages.isLoadingMore}
            loadMore={pages.loadMore}
          />
        </>
      )}
    </Loaded>
  )
}
