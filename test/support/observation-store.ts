import { type ObservationStore, openClickHouseStore } from '../../src/capabilities/storage/index.ts'
import { openColumnar } from '../../src/platform/columnar/index.ts'
import { columnarOptions, migratedClickHouse, testClickHouse } from './clickhouse.ts'

/** An empty store of observations, and one whose server does not exist. */
export type TestStore = {
  store: ObservationStore
  unreachable: ObservationStore
  close(): Promise<void>
}

/** Opens both on the ClickHouse that all test files share. */
export async function openTestStore(): Promise<TestStore> {
  const database = await testClickHouse()
  const columnar = await migratedClickHouse(database)
  const nothing = openColumnar({ ...columnarOptions(database), url: 'http://127.0.0.1:1' })
  return {
    store: openClickHouseStore({ columnar }),
    unreachable: openClickHouseStore({ columnar: nothing }),
    close: async () => {
      await Promise.all([columnar.close(), nothing.close()])
    },
  }
}
