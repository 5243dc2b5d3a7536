// goroutines.go - a thousand goroutines, garbage, signals, a loop that only preemption stops, and a caught fault.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

func work(n int, out chan<- int) {
	s := 0
	for i := 0; i < n; i++ {
		s += i % 7
		if i%1000 == 0 {
			runtime.Gosched()
		}
	}
	out <- s
}

func total() int {
	out := make(chan int)
	for i := 0; i < 1000; i++ {
		go work(3000+i, out)
	}
	t := 0
	for i := 0; i < 1000; i++ {
		t += <-out
	}
	return t
}

func litter() map[int]int {
	var wait sync.WaitGroup
	var lock sync.Mutex
	sizes := map[int]int{}
	for i := 0; i < 100; i++ {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			b := make([]byte, 100000)
			b[i] = 1
			lock.Lock()
			sizes[i%10] += len(b)
			lock.Unlock()
		}(i)
	}
	wait.Wait()
	runtime.GC()
	return sizes
}

func spin(done chan<- bool) {
	x := 0
	for i := 0; i < 50000000; i++ {
		x += i
	}
	done <- x > 0
}

func main() {
	defer func() { fmt.Println("recovered:", recover()) }()
	t, sizes := total(), litter()
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGUSR1)
	syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)
	fmt.Println(<-told)
	<-time.After(20 * time.Millisecond)
	done := make(chan bool)
	go spin(done)
	fmt.Println(t, len(sizes), sizes[3], <-done)
	var none *int
	fmt.Println(*none) // ROOT CAUSE
}
