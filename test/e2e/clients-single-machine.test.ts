import { describe } from 'vitest'
import { singleMachineShape } from '../support/clients/client-shape.ts'
import { clientSuite } from '../support/clients/client-suite.ts'

describe('clients of role all', () => clientSuite(singleMachineShape))
