import { measureOwners } from '../ingest/owners.ts'

console.dir(await measureOwners(Number(process.argv[2] ?? 3)), { depth: 4 })
