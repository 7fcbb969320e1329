/** A module for NestJS: it takes part in an election while the application runs, and runs methods with @LeaderOnly() on the leader only. */
import {
  type BeforeApplicationShutdown,
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
} from "@nestjs/common";
import { Election, type ElectionOptions, type Term } from "@tenure/election";

/** The election of this process. A decorator is evaluated before there is an application, so it looks here when the method is called. */
let current: Election | undefined;

/**
 * Runs the method only on the leader, and does nothing elsewhere. The lease is not released before the method has returned, so never two
 * replicas run it at the same time. The method gets the term as its last argument.
 */
export function LeaderOnly(): MethodDecorator {
  return (_target, _name, descriptor: PropertyDescriptor) => {
    const method = descriptor.value as (...args: unknown[]) => unknown;
    descriptor.value = async function (this: unknown, ...args: unknown[]) {
      const result = await current?.runIfLeader((term: Term) => method.apply(this, [...args, term]));
      return result?.completed ? result.value : undefined;
    };
  };
}

@Injectable()
class ElectionRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(@Inject(Election) private readonly election: Election) {
    current = election;
  }

  onApplicationBootstrap(): void {
    this.election.run().catch((error) => {
      console.error(error.message);
      process.exit(1);
    });
  }

  /** Waits for the methods that run, then releases the lease. Needs app.enableShutdownHooks(). */
  async beforeApplicationShutdown(): Promise<void> {
    await this.election.stop();
  }
}

@Module({})
export class LeaderElectionModule {
  static forRoot(options: ElectionOptions): DynamicModule {
    const election = { provide: Election, useFactory: () => new Election(options) };
    return {
      module: LeaderElectionModule,
      global: true,
      providers: [election, ElectionRunner],
      exports: [Election],
    };
  }
}
