package document
import ("testing";"time";"fmt";"sort")
func TestZRatios(t *testing.T){
  type r struct{n string; a,b time.Duration; x float64}
  var rs []r
  m:=func(src string) time.Duration { best:=time.Hour; for range 3 { s:=time.Now(); d,err:=Parse("",[]byte(src)); if err==nil { ts:=d.Targets(); if len(ts)>0 {d.Project(ts[len(ts)-1])} }; best=min(best,time.Since(s)) }; return best}
  A,B:=hostile(32<<10),hostile(1<<20)
  for n:=range A { a,b:=m(A[n]),m(B[n]); rs=append(rs,r{n,a,b,float64(b)/float64(a)}) }
  sort.Slice(rs,func(i,j int)bool{return rs[i].x>rs[j].x})
  for _,x:=range rs[:12] { fmt.Printf("%q %v %v %.1f\n",x.n,x.a,x.b,x.x) }
  sort.Slice(rs,func(i,j int)bool{return rs[i].b>rs[j].b})
  for _,x:=range rs[:12] { fmt.Printf("slow %q %v %v %.1f\n",x.n,x.a,x.b,x.x) }
}
