import { expect, test } from 'vitest'
import { refuseOldServer } from './migrate-relational.ts'

test.each(['13.23', '9.6.24', '13.23 (Debian 13.23-1)'])('PostgreSQL %s is refused', (version) => {
  expect(() => refuseOldServer(version)).toThrow(
    `the server is PostgreSQL ${version}, expected 14 or later`,
  )
})

test.each(['14.0', '15.18 (Debian 15.18-0+deb12u1)', '18.4', '19beta1'])(
  'PostgreSQL %s is accepted',
  (version) => {
    expect(() => refuseOldServer(version)).not.toThrow()
  },
)
