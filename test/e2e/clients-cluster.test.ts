import { describe } from 'vitest'
import { clusterShape } from '../support/clients/client-shape.ts'
import { clientSuite } from '../support/clients/client-suite.ts'

describe('clients of separate processes', () => clientSuite(clusterShape))
