// A NestJS application on every replica. Only the leader sends reports. Compile it with your own set-up of NestJS.
import { setTimeout as sleep } from "node:timers/promises";
import { Inject, Injectable, Module, type OnModuleDestroy, type OnModuleInit } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { Election, LeaseLock, type Term } from "@tenure/election";
import "reflect-metadata";
import { LeaderElectionModule, LeaderOnly } from "./leader-election.ts";

@Injectable()
class Reports implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;

  constructor(@Inject(Election) election: Election) {
    election.on("error", ({ error }) => console.error(error.message));
  }

  onModuleInit(): void {
    this.timer = setInterval(() => this.send().catch(console.error), 500);
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  @LeaderOnly()
  async send(term?: Term): Promise<void> {
    if (!term) return;
    console.log(`${term.token} ${term.identity} starts a report`);
    for (let page = 0; page < 5; page += 1) {
      await sleep(80);
      if (!term.isValid()) break;
      console.log(`${term.token} ${term.identity} sends a page`);
    }
    console.log(`${term.token} ${term.identity} ends a report`);
  }
}

@Module({
  imports: [
    LeaderElectionModule.forRoot({
      lock: new LeaseLock({ namespace: "default", name: "nest" }),
      ...(process.argv[2] && { identity: process.argv[2] }),
    }),
  ],
  providers: [Reports],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ["error", "warn"] });
app.enableShutdownHooks();
